package protocol_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

func TestRefusalsTravel(t *testing.T) {
	want := []protocol.Refusal{
		{Code: protocol.RefusedNoTasks},
		{Code: protocol.RefusedMemory, App: "upper", Count: 3, Need: 2e9, Have: 536870912.5},
		{Code: protocol.RefusedQuota, App: `a"b<c>&d`, Need: 101, Have: 100, Until: time.Unix(1_800_000_000, 0)},
		{Code: protocol.RefusedPlanClass, App: "upper", Detail: "a processor with avx2"},
	}
	reply := protocol.SchedulerReply{Refusals: want, ProjectName: "P"}
	body := reply.Encode()
	got, err := protocol.ParseSchedulerReply(body)
	if err != nil || !slices.Equal(got.Refusals, want) || got.ProjectName != "P" {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	// BOINC's clients must not find anything in it that they might take for an element of theirs.
	for line := range strings.Lines(string(body)) {
		whole := strings.HasPrefix(line, "<starling_refusal ") && strings.HasSuffix(line, "/>\n")
		if strings.Contains(line, "refusal") && !whole {
			t.Errorf("line %q is not one empty element", line)
		}
	}
}

func TestStrangeRefusals(t *testing.T) {
	body := `<scheduler_reply>
<starling_refusal code="of_tomorrow" need="1e400" have="-1" count="many" until="1e17">x</starling_refusal>
<starling_refusal/>
<project_name>P</project_name>
</scheduler_reply>`
	got, err := protocol.ParseSchedulerReply([]byte(body))
	want := []protocol.Refusal{{Code: protocol.RefusedOther}, {Code: protocol.RefusedOther}}
	if err != nil || !slices.Equal(got.Refusals, want) || got.ProjectName != "P" {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}
