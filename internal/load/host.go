package load

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A Host is one computer of a fleet, as its project sees it. The content of its requests depends
// only on the previous replies, not on a clock or the network. It may be used by only one goroutine
// at a time.
type Host struct {
	key       protocol.Authenticator
	kind      Kind
	info      protocol.HostInfo
	jobs      int   // wanted with each request
	outputs   int64 // bytes of each output file
	upload    bool  // outputs have to be sent before their task is reported
	id, seqno int64
	codeSign  string
	perJob    float64 // seconds that the project expects a job to take here, or 0 if unknown
	asked     float64 // seconds of the pending request
	tasks     []task  // in the order of arrival
	versions  []protocol.AppVersion
}

// A task is a result that the host has and has not reported yet.
type task struct {
	protocol.Result
	took    time.Duration
	outputs []output
	state   protocol.ClientState
	exit    int
	told    bool // whether the pending request reports it
}

type output struct {
	protocol.FileInfo
	content string // the text that the file repeats
	sent    bool
}

// firstAsk is the number of seconds that a host requests before it has learned the duration of a
// job: enough for one job.
const firstAsk = 1.0

// maxAsk is the maximum number of seconds that a host requests, like the limit of a client's work
// buffer.
const maxAsk = 20 * 86400

// newHost returns the n-th host of a fleet. Two hosts with the same seed and number are the same
// computer to a project.
func newHost(c *Config, kind Kind, n int) *Host {
	rng := rand.New(rand.NewPCG(c.Seed, uint64(n))) //nolint:gosec // a number of a host is not negative
	name := fmt.Sprintf("load-%d-%d", c.Seed, n)
	sum := md5.Sum([]byte(name))
	h := &Host{key: c.Key, kind: kind, info: kind.describe(rng, c.Memory), jobs: c.Jobs, outputs: c.UploadBytes, upload: c.Upload}
	h.info.DomainName, h.info.HostCPID = name, hex.EncodeToString(sum[:])
	return h
}

// Attached reports whether the project has a record of the host.
func (h *Host) Attached() bool { return h.id != 0 }

// Busy reports whether the host has tasks that it has not reported yet.
func (h *Host) Busy() bool { return len(h.tasks) > 0 }

// Request returns the host's next request. It reports all finished tasks and, if work is true, asks
// for more. Tasks with outputs that are not sent yet are not finished.
func (h *Host) Request(now time.Time, work bool) *protocol.SchedulerRequest {
	h.asked = 0
	if work {
		h.asked = firstAsk
		if h.perJob > 0 {
			h.asked = min(h.perJob*(float64(h.jobs)-0.5), maxAsk)
		}
	}
	const month = 30 * 24 * time.Hour
	r := &protocol.SchedulerRequest{
		Authenticator: h.key, HostID: h.id, RPCSeqno: h.seqno, Client: h.kind.client,
		ResourceShareFraction: 1, RRSFraction: 1, PRRSFraction: 1, DurationCorrectionFactor: 1,
		CPUReqSeconds: h.asked, Platform: h.kind.Platform, AltPlatforms: h.kind.Alt, CodeSignKey: h.codeSign,
		WorkingPrefs: preferences, CrossProjectID: h.info.HostCPID,
		TimeStats: protocol.TimeStats{
			OnFrac: 1, ConnectedFrac: -1, CPUAndNetworkAvailableFrac: 1, ActiveFrac: 1,
			ClientStart: now.Add(-time.Hour), TotalStart: now.Add(-month), Now: now,
			TotalDuration: month, TotalActiveDuration: month, SessionActiveDuration: time.Hour,
		},
		NetStats: protocol.NetStats{BwUp: 1.25e6, BwDown: 6e6, AvgUp: 1e6, AvgDown: 5e6, AvgTimeUp: now, AvgTimeDown: now},
		Host:     h.info,
		Disk:     protocol.DiskUsage{UsedTotal: 2e9, UsedProject: 5e8, ProjectShare: 5e10},

		AppVersions: h.versions,
	}
	r.Host.Calculated = now.Add(-24 * time.Hour)
	for i := range h.tasks {
		t := &h.tasks[i]
		if t.told = t.done(); t.told {
			r.Results = append(r.Results, t.report())
		} else {
			r.OtherResults = append(r.OtherResults, protocol.OtherResult{Name: t.Name, AppVersion: h.versionOf(t), PlanClass: t.PlanClass})
		}
	}
	return r
}

func (t *task) done() bool {
	return t.state != protocol.ClientUploading || !slices.ContainsFunc(t.outputs, func(o output) bool { return !o.sent })
}

// report returns a client's report of a finished task.
func (t *task) report() protocol.ReportedResult {
	r := protocol.ReportedResult{
		Name: t.Name, State: t.state, ExitStatus: t.exit, Platform: t.Platform, VersionNum: t.VersionNum, PlanClass: t.PlanClass,
		FinalCPUTime: t.took * 98 / 100, FinalElapsedTime: t.took,
		PeakWorkingSet: 50 << 20, PeakSwap: 60 << 20, PeakDisk: 2 << 20,
		StderrOut: fmt.Sprintf("<core_client_version>%d.%d.%d</core_client_version>\n<stderr_txt>\nreading the input file\nwriting the output file\n"+
			"called boinc_finish(%d)\n\n</stderr_txt>\n", protocol.CompatVersion.Major, protocol.CompatVersion.Minor, protocol.CompatVersion.Release, t.exit),
	}
	if t.state == protocol.ClientUploading {
		r.State = protocol.ClientUploaded
	}
	if t.state == protocol.ClientAborted {
		return r
	}
	for _, o := range t.outputs {
		f := protocol.FileInfo{Name: o.Name, NBytes: o.NBytes, MaxNBytes: o.MaxNBytes, UploadURLs: o.UploadURLs, ErrorMsg: o.ErrorMsg}
		sum := md5.Sum([]byte(o.text()))
		f.MD5 = hex.EncodeToString(sum[:])
		r.Files = append(r.Files, f)
	}
	return r
}

// text returns the content of the output file. It is the same for all results of a workunit, so
// that they agree.
func (o *output) text() string {
	n := int(o.NBytes)
	return strings.Repeat(o.content, n/len(o.content)+1)[:n]
}

// A Turn contains the effects of a reply.
type Turn struct {
	Dispatched int           // tasks that the host did not have
	Resent     int           // tasks that it already had
	Reported   int           // tasks whose report was acknowledged
	Refused    []string      // why it got no work, although it asked for some
	Wait       time.Duration // minimum time until the next request
	Outputs    []Upload      // to be sent
}

// An Upload is an output file to be sent.
type Upload struct {
	Task, File string
	URL        string
	Head       []byte // of the request's body
	Data       string // the file's content, which follows the head
}

// Answer processes a reply to the host's last request.
func (h *Host) Answer(reply *protocol.SchedulerReply) Turn {
	turn := Turn{Wait: reply.RequestDelay}
	h.seqno++
	if reply.HostID != 0 {
		h.id, h.seqno = reply.HostID, 0
	}
	if reply.CodeSignKey != "" {
		h.codeSign = reply.CodeSignKey
	}
	h.tasks = slices.DeleteFunc(h.tasks, func(t task) bool {
		gone := t.told && slices.Contains(reply.ResultAcks, t.Name)
		if gone {
			turn.Reported++
		}
		return gone
	})
	h.abort(reply.ResultAborts)
	h.abort(reply.ResultAbortsIfNotStarted)
	for _, v := range reply.AppVersions {
		if h.versionIs(v.AppName, v.VersionNum, v.Platform, v.PlanClass) < 0 {
			v.FileRefs = nil
			h.versions = append(h.versions, v)
		}
	}
	for _, r := range reply.Results {
		if slices.ContainsFunc(h.tasks, func(t task) bool { return t.Name == r.Name }) {
			turn.Resent++
			continue
		}
		h.tasks = append(h.tasks, h.take(r, reply))
		turn.Dispatched++
	}
	h.learn(len(reply.Results))
	if h.asked > 0 && len(reply.Results) == 0 {
		turn.Refused = reasons(reply)
	}
	turn.Outputs = h.unsent()
	return turn
}

func (h *Host) abort(names []string) {
	for i := range h.tasks {
		if t := &h.tasks[i]; slices.Contains(names, t.Name) {
			t.state, t.exit = protocol.ClientAborted, protocol.ExitAbortedByProject
		}
	}
}

// take makes a task of a result in a reply. The task counts as computed at once.
func (h *Host) take(r protocol.Result, reply *protocol.SchedulerReply) task {
	t := task{Result: r, state: protocol.ClientUploaded}
	if h.upload {
		t.state = protocol.ClientUploading
	}
	if t.Platform == "" {
		t.Platform = h.kind.Platform
	}
	app, fpops := "", 0.0
	for i := range reply.Workunits {
		if wu := &reply.Workunits[i]; wu.Name == r.WorkunitName {
			app, fpops = wu.AppName, wu.RscFpopsEst
		}
	}
	speed := h.info.Fpops
	if i := h.versionIs(app, t.VersionNum, t.Platform, t.PlanClass); i >= 0 && h.versions[i].Flops > 0 {
		speed = h.versions[i].Flops
	}
	if fpops > 0 && speed > 0 {
		t.took = protocol.Seconds(fpops / speed)
		h.perJob = fpops / speed
	}
	for _, ref := range r.FileRefs {
		for i := range reply.Files {
			if f := &reply.Files[i]; f.Name == ref.FileName && len(f.UploadURLs) > 0 {
				t.outputs = append(t.outputs, h.write(*f, r.WorkunitName+" "+ref.Logical()))
			}
		}
	}
	return t
}

func (h *Host) write(f protocol.FileInfo, seed string) output {
	f.NBytes = h.outputs
	if f.MaxNBytes > 0 {
		f.NBytes = min(f.NBytes, f.MaxNBytes)
	}
	sum := md5.Sum([]byte(seed))
	return output{FileInfo: f, content: hex.EncodeToString(sum[:]) + "\n"}
}

// learn corrects the duration of a job if more jobs arrived than the project's own estimate
// explains. Without this, the host would get more and more jobs than it wants.
func (h *Host) learn(came int) {
	if came <= h.jobs || h.asked <= 0 {
		return
	}
	// All but the last job fitted into the requested time.
	if most := h.asked / float64(came-1); h.perJob > most {
		h.perJob = h.asked / (float64(came) - 0.5)
	}
}

// versionOf returns the index of the app version that computes a task, or -1.
func (h *Host) versionOf(t *task) int {
	return slices.IndexFunc(h.versions, func(v protocol.AppVersion) bool {
		return v.VersionNum == t.VersionNum && v.PlanClass == t.PlanClass && (v.Platform == "" || v.Platform == t.Platform)
	})
}

func (h *Host) versionIs(app string, number int, platform, planClass string) int {
	return slices.IndexFunc(h.versions, func(v protocol.AppVersion) bool {
		return v.AppName == app && v.VersionNum == number && v.PlanClass == planClass && (v.Platform == "" || v.Platform == platform)
	})
}

// reasons returns the reasons why a reply brought no work: the codes of Starling's servers, or the
// messages of other servers to people.
func reasons(reply *protocol.SchedulerReply) (why []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(why, s) {
			why = append(why, s)
		}
	}
	for _, r := range reply.Refusals {
		add(string(r.Code))
	}
	if len(why) > 0 {
		return why
	}
	for _, m := range reply.Messages {
		add(strings.ToValidUTF8(m.Text[:min(len(m.Text), 80)], ""))
	}
	if len(why) == 0 {
		why = []string{"no reason given"}
	}
	return why
}
