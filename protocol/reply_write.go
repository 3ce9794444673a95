package protocol

import (
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// maxMessage is the maximum length, in bytes, of a message that BOINC's clients keep.
const maxMessage = 1023

// Encode returns the reply's body, without an XML declaration, because the oldest clients fail on
// one.
func (r *SchedulerReply) Encode() []byte {
	var w bxml.Writer
	w.Open("scheduler_reply")
	w.Int("scheduler_version", int64(r.SchedulerVersion))
	w.Flag("dont_use_dcf", r.DontUseDCF)
	w.TextIf("master_url", r.MasterURL)
	w.Flag("ended", r.Ended)
	if r.RequestDelay > 0 {
		w.Float("request_delay", r.RequestDelay.Seconds())
	}
	if r.NextRPCDelay > 0 {
		w.Float("next_rpc_delay", r.NextRPCDelay.Seconds())
	}
	for _, m := range r.Messages {
		m.write(&w)
	}
	for _, f := range r.Refusals {
		f.write(&w)
	}
	if r.WorkEvents != nil {
		r.WorkEvents.write(&w)
	}
	w.TextIf("project_name", r.ProjectName)
	w.Flag("project_is_down", r.ProjectIsDown)
	if r.User != nil {
		r.User.write(&w)
	}
	if r.HostID != 0 {
		w.Int("hostid", r.HostID)
	}
	if r.Host != nil {
		r.Host.write(&w)
	}
	if r.User != nil {
		if r.User.TeamID != 0 {
			w.Int("teamid", r.User.TeamID)
		}
		w.Text("team_name", r.User.TeamName)
	}
	if r.GlobalPrefs != "" {
		w.Block("global_preferences", r.GlobalPrefs)
	}
	if r.ProjectPrefs != "" {
		w.Block("project_preferences", r.ProjectPrefs)
	}
	writeNames(&w, "result_ack", r.ResultAcks)
	writeNames(&w, "result_abort", r.ResultAborts)
	writeNames(&w, "result_abort_if_not_started", r.ResultAbortsIfNotStarted)
	r.write(&w)
	for _, e := range r.Encoded {
		w.Raw(e)
	}
	r.writeRest(&w)
	w.Close("scheduler_reply")
	return w.Bytes()
}

func (r *SchedulerReply) writeRest(w *bxml.Writer) {
	if r.CodeSignKey != "" {
		w.Block("code_sign_key", strings.TrimSpace(r.CodeSignKey))
	}
	if r.CodeSignKeySignature != "" {
		w.Block("code_sign_key_signature", strings.TrimSpace(r.CodeSignKeySignature))
	}
	w.Flag("message_ack", r.MessageAck)
	for _, t := range r.TrickleDowns {
		t.write(w, "trickle_down")
	}
	for _, f := range r.DeleteFiles {
		w.Text("delete_file_info", f)
	}
	for _, rsc := range r.NoRscApps {
		w.Text("no_rsc_apps", rsc)
	}
	w.Flag("send_full_workload", r.SendFullWorkload)
	w.Flag("non_cpu_intensive", r.NonCPUIntensive)
	w.Flag("strict_memory_bound", r.StrictMemoryBound)
	w.Flag("verify_files_on_app_start", r.VerifyFilesOnAppStart)
	if r.GUIURLs != "" {
		w.Block("gui_urls", r.GUIURLs)
	}
	if len(r.Feeds) > 0 {
		w.Open("rss_feeds")
		for _, f := range r.Feeds {
			w.Open("rss_feed")
			w.Text("url", f.URL)
			w.Float("poll_interval", f.Poll.Seconds())
			w.Close("rss_feed")
		}
		w.Close("rss_feeds")
	}
}

func (m Message) write(w *bxml.Writer) {
	var inner bxml.Writer
	text := m.Text
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "")
	}
	inner.Text("message", text)
	tag := `<message priority="low">`
	if m.Priority == PriorityNotice {
		tag = `<message priority="notice">`
	}
	w.Raw(tag + strings.TrimPrefix(string(inner.Bytes()), "<message>"))
}

func (u *ReplyUser) write(w *bxml.Writer) {
	w.Int("userid", u.ID)
	w.Text("user_name", u.Name)
	w.Float("user_total_credit", u.TotalCredit)
	w.Float("user_expavg_credit", u.ExpavgCredit)
	w.Int("user_create_time", int64(UnixSeconds(u.CreateTime)))
	w.TextIf("email_hash", u.EmailHash)
	w.TextIf("cross_project_id", u.CrossProjectID)
	w.TextIf("external_cpid", u.ExternalCPID)
}

func (h *ReplyHost) write(w *bxml.Writer) {
	w.Float("host_total_credit", h.TotalCredit)
	w.Float("host_expavg_credit", h.ExpavgCredit)
	w.Int("host_create_time", int64(UnixSeconds(h.CreateTime)))
	if h.Venue != nil {
		w.Text("host_venue", *h.Venue)
	}
}

func writeNames(w *bxml.Writer, element string, names []string) {
	for _, n := range names {
		w.Open(element)
		w.Text("name", n)
		w.Close(element)
	}
}
