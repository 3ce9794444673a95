package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func newTestHost(change func(c *Config)) *Host {
	c := Config{Key: "k", Jobs: 1, UploadBytes: 100, Seed: 7}
	if change != nil {
		change(&c)
	}
	mix, err := ParseMix("linux")
	if err != nil {
		panic(err)
	}
	return newHost(&c, mix[0].Kind, 3)
}

// work returns a reply with results of one application, whose tasks take fpops at 1 GFLOPS.
func work(fpops float64, names ...string) *protocol.SchedulerReply {
	r := new(protocol.SchedulerReply)
	r.AppVersions = []protocol.AppVersion{{AppName: "a", VersionNum: 100, Platform: "x86_64-pc-linux-gnu", Flops: 1e9, FileRefs: []protocol.FileRef{{FileName: "a_1"}}}}
	for _, name := range names {
		r.Workunits = append(r.Workunits, protocol.Workunit{Name: "wu_" + name, AppName: "a", RscFpopsEst: fpops})
		r.Files = append(r.Files, protocol.FileInfo{Name: name + "_out", MaxNBytes: 1000, XMLSignature: "sig", UploadURLs: []string{"http://127.0.0.1/up"}})
		r.Results = append(r.Results, protocol.Result{
			Name: name, WorkunitName: "wu_" + name, Platform: "x86_64-pc-linux-gnu", VersionNum: 100,
			FileRefs: []protocol.FileRef{{FileName: name + "_out", OpenName: "out"}},
		})
	}
	return r
}

func ack(names ...string) *protocol.SchedulerReply {
	return &protocol.SchedulerReply{ResultAcks: names}
}

// says returns a short description of a request.
func says(r *protocol.SchedulerRequest) string {
	s := fmt.Sprintf("host %d rpc %d key %q asks %g", r.HostID, r.RPCSeqno, r.CodeSignKey, r.CPUReqSeconds)
	for _, x := range r.Results {
		s += fmt.Sprintf(" %s=%v/%d", x.Name, x.State, x.ExitStatus)
	}
	for _, x := range r.OtherResults {
		s += fmt.Sprintf(" has %s of version %d", x.Name, x.AppVersion)
	}
	return s
}

// The content of a host's request after different replies. Each want is the request before the
// reply.
func TestWhatAHostSays(t *testing.T) {
	sent := func(status int) func(*Host) {
		return func(h *Host) {
			for _, u := range h.unsent() {
				h.Sent(u, protocol.UploadReply{Status: status, Message: "no room"})
			}
		}
	}
	type step struct {
		want  string
		reply *protocol.SchedulerReply // nil without a reply
		then  func(*Host)
		last  bool // it does not ask for work
	}
	for _, test := range []struct {
		name   string
		change func(c *Config)
		steps  []step
	}{
		{"it takes the id it is told and counts its requests from 0", nil, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: &protocol.SchedulerReply{HostID: 42, CodeSignKey: "1024"}},
			{want: `host 42 rpc 0 key "1024" asks 1`, reply: ack()},
			{want: `host 42 rpc 1 key "1024" asks 1`, reply: ack()},
			{want: `host 42 rpc 2 key "1024" asks 1`, reply: &protocol.SchedulerReply{HostID: 43}},
			{want: `host 43 rpc 0 key "1024" asks 1`, reply: ack()},
		}},
		{"a request without an answer is not counted", nil, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: &protocol.SchedulerReply{HostID: 42}},
			{want: `host 42 rpc 0 key "" asks 1`},
			{want: `host 42 rpc 0 key "" asks 1`, reply: ack()},
		}},
		{"what came is reported next, and asked for is half a task less than wanted", func(c *Config) { c.Jobs = 3 }, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(100e9, "r1")},
			{want: `host 0 rpc 1 key "" asks 250 r1=uploaded/0`, reply: ack("r1")},
			{want: `host 0 rpc 2 key "" asks 250`, reply: ack()},
		}},
		{"a report is repeated until it is acknowledged", nil, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(1e9, "r1", "r2")},
			{want: `host 0 rpc 1 key "" asks 0.5 r1=uploaded/0 r2=uploaded/0`},
			{want: `host 0 rpc 1 key "" asks 0.5 r1=uploaded/0 r2=uploaded/0`, reply: ack("r2")},
			{want: `host 0 rpc 2 key "" asks 0.5 r1=uploaded/0`, reply: ack("r1")},
			{want: `host 0 rpc 3 key "" asks 0.5`, reply: ack()},
		}},
		{"in the end it asks for nothing", nil, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(1e9, "r1")},
			{want: `host 0 rpc 1 key "" asks 0 r1=uploaded/0`, reply: ack("r1"), last: true},
		}},
		{"a task with outputs is not reported before they are sent", func(c *Config) { c.Upload = true }, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(2e9, "r1")},
			{want: `host 0 rpc 1 key "" asks 1 has r1 of version 0`, reply: ack(), then: sent(protocol.UploadTransient)},
			{want: `host 0 rpc 2 key "" asks 1 has r1 of version 0`, reply: ack(), then: sent(protocol.UploadOK)},
			{want: `host 0 rpc 3 key "" asks 1 r1=uploaded/0`, reply: ack("r1")},
			{want: `host 0 rpc 4 key "" asks 1`, reply: ack()},
		}},
		{"a task whose upload is refused for good has failed", func(c *Config) { c.Upload = true }, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(2e9, "r1"), then: sent(protocol.UploadPermanent)},
			{want: `host 0 rpc 1 key "" asks 1 r1=upload failed/-187`, reply: ack("r1")},
		}},
		{"a task that the project aborts is reported so", func(c *Config) { c.Upload = true }, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(1e9, "r1", "r2")},
			{want: `host 0 rpc 1 key "" asks 0.5 has r1 of version 0 has r2 of version 0`, reply: &protocol.SchedulerReply{
				ResultAborts: []string{"r1"}, ResultAbortsIfNotStarted: []string{"r2"},
			}},
			{want: `host 0 rpc 2 key "" asks 0.5 r1=aborted/202 r2=aborted/202`, reply: ack("r1", "r2")},
		}},
		{"more than was wanted makes it ask for less", nil, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(100e9, "r1")},
			{want: `host 0 rpc 1 key "" asks 50 r1=uploaded/0`, reply: work(100e9, "r2", "r3", "r4")},
			{want: `host 0 rpc 2 key "" asks 10 r1=uploaded/0 r2=uploaded/0 r3=uploaded/0 r4=uploaded/0`, reply: ack("r1", "r2", "r3", "r4")},
		}},
		{"no more is asked for than clients have room for", func(c *Config) { c.Jobs = 1000 }, []step{
			{want: `host 0 rpc 0 key "" asks 1`, reply: work(1e15, "r1")},
			{want: `host 0 rpc 1 key "" asks 1.728e+06 r1=uploaded/0`, reply: ack("r1")},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newTestHost(test.change)
			for i, s := range test.steps {
				if got := says(h.Request(noon, !s.last)); got != s.want {
					t.Fatalf("request %d: got %s, want %s", i, got, s.want)
				}
				if s.reply != nil {
					h.Answer(s.reply)
				}
				if s.then != nil {
					s.then(h)
				}
			}
		})
	}
}

// The effects of a reply, as they are counted.
func TestTurns(t *testing.T) {
	refused := func(text string, codes ...protocol.RefusalCode) *protocol.SchedulerReply {
		r := &protocol.SchedulerReply{Messages: []protocol.Message{{Priority: protocol.PriorityLow, Text: text}}, RequestDelay: time.Minute}
		for _, c := range codes {
			r.Refusals = append(r.Refusals, protocol.Refusal{Code: c, App: string(c)})
		}
		return r
	}
	h := newTestHost(nil)
	for i, test := range []struct {
		work  bool
		reply *protocol.SchedulerReply
		want  string
	}{
		{true, refused("No tasks sent"), "0 new, 0 again, 0 reported, wait 1m0s, [No tasks sent]"},
		{true, refused("No tasks sent", protocol.RefusedQuota, protocol.RefusedMemory, protocol.RefusedQuota), "0 new, 0 again, 0 reported, wait 1m0s, [daily_quota memory]"},
		{true, ack(), "0 new, 0 again, 0 reported, wait 0s, [no reason given]"},
		{false, refused("whatever"), "0 new, 0 again, 0 reported, wait 1m0s, []"},
		{true, work(1e9, "r1", "r2"), "2 new, 0 again, 0 reported, wait 0s, []"},
		{true, work(1e9, "r2", "r3"), "1 new, 1 again, 0 reported, wait 0s, []"},
		{false, ack("r1", "r3", "stranger"), "0 new, 0 again, 2 reported, wait 0s, []"},
	} {
		h.Request(noon, test.work)
		turn := h.Answer(test.reply)
		got := fmt.Sprintf("%d new, %d again, %d reported, wait %v, %v", turn.Dispatched, turn.Resent, turn.Reported, turn.Wait, turn.Refused)
		if got != test.want {
			t.Errorf("turn %d: got %s, want %s", i, got, test.want)
		}
	}
	if !h.Busy() {
		t.Error("r2 is forgotten without an acknowledgement")
	}
}

// A request is as large as the requests of BOINC's clients, 6.2 kilobytes without a report and 7 to
// 8 with one, and can be parsed.
func TestARequestIsLikeAClients(t *testing.T) {
	h := newTestHost(nil)
	first := h.Request(noon, true).Encode()
	r := work(3600e9, "r1")
	r.HostID, r.CodeSignKey = 42, strings.Repeat("0123456789abcdef", 30)
	h.Answer(r)
	second := h.Request(noon, true).Encode()
	if a, b := len(first), len(second); a < 5000 || a > 7000 || b < a+1000 || b > 9000 {
		t.Errorf("requests of %d and %d bytes, want some 6 000 and 7 500", a, b)
	}
	req, err := protocol.ParseSchedulerRequest(second)
	if err != nil {
		t.Fatal(err)
	}
	x := req.Results[0]
	if !x.Success() || x.FinalElapsedTime != time.Hour || x.VersionNum != 100 || !strings.Contains(x.StderrOut, "boinc_finish(0)") {
		t.Errorf("report: %+v", x)
	}
	if f := x.Files[0]; f.Name != "r1_out" || f.NBytes != 100 || len(f.MD5) != 32 || len(f.UploadURLs) != 1 {
		t.Errorf("output: %+v", f)
	}
	if v := req.AppVersions[0]; v.AppName != "a" || v.VersionNum != 100 {
		t.Errorf("app version: %+v", v)
	}
	if req.Host.MemBytes < 4*giga || req.Host.NCPUs < 2 || req.Host.HostCPID == "" || !strings.Contains(req.WorkingPrefs, "<ram_max_used_idle_pct>90") {
		t.Errorf("host: %+v, preferences %q", req.Host, req.WorkingPrefs)
	}
}

// Results of one workunit have equal outputs, different workunits have different ones, and none is
// larger than allowed.
func TestOutputsAgree(t *testing.T) {
	h := newTestHost(func(c *Config) { c.Upload, c.UploadBytes = true, 5000 })
	r := work(1e9, "r1", "r2", "r3")
	r.Results[1].WorkunitName = r.Results[0].WorkunitName
	outputs := h.Answer(r).Outputs
	if len(outputs) != 3 {
		t.Fatalf("%d outputs, want 3", len(outputs))
	}
	if a, b, c := outputs[0].Data, outputs[1].Data, outputs[2].Data; a != b || a == c || len(a) != 1000 {
		t.Errorf("outputs of %d bytes; equal of one workunit: %v, of two: %v", len(a), a == b, a == c)
	}
	if head := string(outputs[0].Head); !strings.Contains(head, "<nbytes>1000</nbytes>") || !strings.Contains(head, "sig") {
		t.Errorf("head: %s", head)
	}
}

// A fleet is the same with the same seed, each host is a different computer, and kinds have their
// shares from the first hosts on.
func TestFleet(t *testing.T) {
	mix, err := ParseMix("windows=6,linux=3, mac")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Mix: mix, Hosts: 20, Seed: 1, Memory: []float64{2 * giga, 8 * giga}}
	one, same := c.fleet(), c.fleet()
	c.Seed = 2
	other := c.fleet()
	count, names := make(map[string]int), make(map[string]bool)
	for i, h := range one {
		if !slices.Equal(h.Request(noon, true).Encode(), same[i].Request(noon, true).Encode()) {
			t.Errorf("host %d differs between two fleets of one seed", i)
		}
		if h.info.HostCPID == other[i].info.HostCPID {
			t.Errorf("host %d is the same computer with another seed", i)
		}
		if m := h.info.MemBytes; m != 2*giga && m != 8*giga {
			t.Errorf("host %d has %v bytes of memory", i, m)
		}
		count[h.kind.Name]++
		names[h.info.HostCPID] = true
		if i == 9 && fmt.Sprint(count) != "map[linux:3 mac:1 windows:6]" {
			t.Errorf("the first ten: %v", count)
		}
	}
	if len(names) != 20 || fmt.Sprint(count) != "map[linux:6 mac:2 windows:12]" {
		t.Errorf("%d computers: %v", len(names), count)
	}
}

func TestMixesAndMemoryThatAreRefused(t *testing.T) {
	for _, s := range []string{"", "amiga", "linux=0", "linux=-1", "linux=x", "linux=NaN", "linux,linux=2"} {
		if mix, err := ParseMix(s); err == nil {
			t.Errorf("mix %q: got %v, want an error", s, mix)
		}
	}
	for _, s := range []string{"0", "4,,8", "x", "-1"} {
		if sizes, err := ParseMemory(s); err == nil {
			t.Errorf("memory %q: got %v, want an error", s, sizes)
		}
	}
}

// BenchmarkTurn measures the generator's work for a host without HTTP. It should be small compared
// to the server's work.
func BenchmarkTurn(b *testing.B) {
	h := newTestHost(nil)
	answer := work(1e9, "r1").Encode()
	for b.Loop() {
		r := h.Request(noon, true)
		_ = r.Encode()
		reply, err := protocol.ParseSchedulerReply(answer)
		if err != nil {
			b.Fatal(err)
		}
		for _, x := range r.Results {
			reply.ResultAcks = append(reply.ResultAcks, x.Name)
		}
		h.Answer(reply)
	}
}
