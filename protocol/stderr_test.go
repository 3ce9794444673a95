package protocol_test

import (
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func TestStderrOutIsInBOINCsForm(t *testing.T) {
	const version = "<core_client_version>8.2.15</core_client_version>\n"
	for _, tt := range []struct{ name, report, want string }{
		{"a good end", "<stderr_txt>\na ]]> b\n\n</stderr_txt>\n", version + "<![CDATA[\n<stderr_txt>\na ]] > b\n\n</stderr_txt>\n]]>\n"},
		{"an error", "<message>\nm</message>\n<stderr_txt>\nx\n</stderr_txt>\n", version + "<![CDATA[\n<message>\nm</message>\n<stderr_txt>\nx\n</stderr_txt>\n]]>\n"},
		{"no words", "", version},
		{"an earlier agent's report", "<core_client_version>8.2.14</core_client_version>\n<message>\nm\n</message>\n", "<core_client_version>8.2.14</core_client_version>\n<![CDATA[\n<message>\nm\n</message>\n]]>\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := protocol.Version{Major: 8, Minor: 2, Release: 15}
			r := protocol.SchedulerRequest{Results: []protocol.ReportedResult{{Name: "r", StderrOut: v.StderrOut(tt.report)}}}
			_, got, _ := strings.Cut(string(r.Encode()), "<stderr_out>\n")
			if got, _, _ = strings.Cut(got, "</stderr_out>"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStderrOutIsCutAtItsBeginning(t *testing.T) {
	v := protocol.Version{Major: 8, Minor: 2, Release: 15}
	r := protocol.SchedulerRequest{Results: []protocol.ReportedResult{{Name: "r", StderrOut: v.StderrOut(strings.Repeat("x", 100<<10) + "the end")}}}
	out := string(r.Encode())
	if !strings.Contains(out, "<core_client_version>8.2.15</core_client_version>\n<![CDATA[\nxxx") || !strings.Contains(out, "the end\n]]>") || len(out) > 70<<10 {
		t.Errorf("%d bytes, %.100q", len(out), out)
	}
}
