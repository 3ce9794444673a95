package protocol_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

func TestWorkEventsTravel(t *testing.T) {
	want := protocol.WorkEvents{URL: `https://p.example/work_events?a="1"&b`, Mark: "1700000000000", Heartbeat: 30 * time.Second}
	reply := protocol.SchedulerReply{WorkEvents: &want, ProjectName: "P"}
	body := reply.Encode()
	got, err := protocol.ParseSchedulerReply(body)
	if err != nil || got.WorkEvents == nil || *got.WorkEvents != want || got.ProjectName != "P" {
		t.Errorf("got %+v, %v; want %+v", got.WorkEvents, err, want)
	}
	for line := range strings.Lines(string(body)) {
		whole := strings.HasPrefix(line, "<starling_work_events ") && strings.HasSuffix(line, "/>\n")
		if strings.Contains(line, "work_events") && !whole {
			t.Errorf("line %q is not one empty element", line)
		}
	}
}

func TestUnusableWorkEventsAreNone(t *testing.T) {
	for _, attrs := range []string{
		"", `url="http://p.example/"`, `heartbeat="30"`, `url="http://p.example/" heartbeat="0"`,
		`url="http://p.example/" heartbeat="1e9"`, `url="http://p.example/" heartbeat="NaN"`, `url="http://p.example/" heartbeat="-5"`,
	} {
		got, err := protocol.ParseSchedulerReply([]byte("<scheduler_reply>\n<starling_work_events " + attrs + "/>\n<project_name>P</project_name>\n</scheduler_reply>"))
		if err != nil || got.WorkEvents != nil || got.ProjectName != "P" {
			t.Errorf("%s: got %+v, %v", attrs, got, err)
		}
	}
}
