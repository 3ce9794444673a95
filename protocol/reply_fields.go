package protocol

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseSchedulerReply reads a scheduler's reply. It fails when the start or the end tag is missing,
// since then part of the reply is missing, too.
func ParseSchedulerReply(b []byte) (*SchedulerReply, error) {
	s := bxml.NewScanner(b).Foreign()
	if err := s.Find("scheduler_reply"); err != nil {
		return nil, fmt.Errorf("scheduler reply: %w", err)
	}
	r, user, host := new(SchedulerReply), new(ReplyUser), new(ReplyHost)
	for range s.Children() {
		x := s.Child()
		if r.elements(x); s.Used() {
			continue
		}
		r.status(x)
		x.Int("hostid", &r.HostID)
		r.orders(x)
		if r.rest(x); s.Used() {
			continue
		}
		user.fields(x)
		if user.team(x); s.Used() {
			r.User = user
			continue
		}
		if host.fields(x); s.Used() {
			r.Host = host
			continue
		}
		s.Enter()
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("scheduler reply: %w", err)
	}
	return r, nil
}

// Encode returns the reply's body, without an XML declaration, because the oldest clients fail on
// one.
func (r *SchedulerReply) Encode() []byte {
	var w bxml.Writer
	w.Grow(usualMessage)
	w.Open("scheduler_reply")
	w.Fields(r.status)
	if r.User != nil {
		w.Fields(r.User.fields)
	}
	if r.HostID != 0 {
		w.Int("hostid", r.HostID)
	}
	if r.Host != nil {
		w.Fields(r.Host.fields)
	}
	if r.User != nil {
		w.Fields(r.User.team)
	}
	w.Fields(r.orders)
	w.Fields(r.elements)
	w.Fields(r.rest)
	w.Close("scheduler_reply")
	return w.Bytes()
}

// status reads or writes the fields about the server and the connection to it.
func (r *SchedulerReply) status(x bxml.Codec) {
	opt := x.Optional()
	integer(x, "scheduler_version", &r.SchedulerVersion)
	x.Flag("dont_use_dcf", &r.DontUseDCF)
	opt.Line("master_url", &r.MasterURL, maxText)
	x.Flag("ended", &r.Ended)
	span(opt, "request_delay", &r.RequestDelay)
	span(opt, "next_rpc_delay", &r.NextRPCDelay)
	if s := x.Reading("message"); s != nil {
		r.Messages = appendTo(r.Messages, scanMessage(s))
	}
	if s := x.Reading(refusalTag); s != nil {
		r.Refusals = appendTo(r.Refusals, scanRefusal(s))
	}
	if s := x.Reading(workEventsTag); s != nil {
		r.WorkEvents = scanWorkEvents(s)
	}
	if w := x.Writing(); w != nil {
		for _, m := range r.Messages {
			m.write(w)
		}
		for _, f := range r.Refusals {
			f.write(w)
		}
		if r.WorkEvents != nil {
			r.WorkEvents.write(w)
		}
	}
	x.Flag("starling_takes_energy", &r.TakesEnergy)
	opt.Line("project_name", &r.ProjectName, maxText)
	x.Flag("project_is_down", &r.ProjectIsDown)
}

// orders reads or writes the preferences, and the fields about results that the host has.
func (r *SchedulerReply) orders(x bxml.Codec) {
	x.Raw("global_preferences", &r.GlobalPrefs)
	x.Raw("project_preferences", &r.ProjectPrefs)
	eachName(x, "result_ack", &r.ResultAcks, maxList, scanName)
	eachName(x, "result_abort", &r.ResultAborts, maxList, scanName)
	eachName(x, "result_abort_if_not_started", &r.ResultAbortsIfNotStarted, maxList, scanName)
}

// rest reads or writes the fields after the elements.
func (r *SchedulerReply) rest(x bxml.Codec) {
	key(x, "code_sign_key", &r.CodeSignKey)
	key(x, "code_sign_key_signature", &r.CodeSignKeySignature)
	x.Flag("message_ack", &r.MessageAck)
	if s := x.Reading("trickle_down"); s != nil {
		r.TrickleDowns = appendTo(r.TrickleDowns, parseTrickle(s.Raw()))
	}
	if s := x.Reading("delete_file_info"); s != nil {
		// Upstream sends the name as text or inside a <name>.
		name := strings.TrimPrefix(strings.TrimSpace(s.Raw()), "<name>")
		r.DeleteFiles = appendTo(r.DeleteFiles, strings.TrimSuffix(name, "</name>"))
	}
	if w := x.Writing(); w != nil {
		for _, t := range r.TrickleDowns {
			t.write(w, "trickle_down")
		}
		for _, f := range r.DeleteFiles {
			w.Text("delete_file_info", f)
		}
	}
	eachLine(x, "no_rsc_apps", &r.NoRscApps, maxList)
	if s := x.Reading("no_cpu_apps"); s != nil && s.Flag() {
		r.NoRscApps = appendTo(r.NoRscApps, "CPU")
	}
	x.Flag("non_cpu_intensive", &r.NonCPUIntensive)
	x.Flag("strict_memory_bound", &r.StrictMemoryBound)
	x.Raw("gui_urls", &r.GUIURLs)
	x.WriteIf(len(r.Feeds) > 0).Element("rss_feeds", func(x bxml.Codec) {
		eachFrom(x, "rss_feed", &r.Feeds, maxFeeds, Feed{Poll: dailyFeed})
	})
}

const (
	maxFeeds  = 16             // of one project
	dailyFeed = 24 * time.Hour // used for a feed without an interval
)

func (f *Feed) fields(x bxml.Codec) {
	x.Line("url", &f.URL, maxText)
	span(x, "poll_interval", &f.Poll)
	if x.Reading("poll_interval") != nil && f.Poll <= 0 {
		f.Poll = dailyFeed
	}
}

func (u *ReplyUser) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Int("userid", &u.ID)
	x.Line("user_name", &u.Name, maxText)
	x.Float("user_total_credit", &u.TotalCredit)
	x.Float("user_expavg_credit", &u.ExpavgCredit)
	date(x, "user_create_time", &u.CreateTime)
	opt.Line("email_hash", &u.EmailHash, maxText)
	opt.Line("cross_project_id", &u.CrossProjectID, maxText)
	opt.Line("external_cpid", &u.ExternalCPID, maxText)
}

func (u *ReplyUser) team(x bxml.Codec) {
	x.WriteIf(u.TeamID != 0).Int("teamid", &u.TeamID)
	x.Line("team_name", &u.TeamName, maxText)
}

func (h *ReplyHost) fields(x bxml.Codec) {
	x.Float("host_total_credit", &h.TotalCredit)
	x.Float("host_expavg_credit", &h.ExpavgCredit)
	date(x, "host_create_time", &h.CreateTime)
	if x.Reading("host_venue") != nil {
		h.Venue = new(string)
	}
	if h.Venue != nil {
		x.Line("host_venue", h.Venue, maxText)
	}
}

// maxMessage is the maximum length, in bytes, of a message that BOINC's clients keep.
const maxMessage = 1023

func scanMessage(s *bxml.Scanner) Message {
	m := Message{Priority: bxml.Printable(s.Attr("priority"), maxText), Text: bxml.Printable(s.Text(), maxProse)}
	if m.Priority == "high" {
		m.Priority = PriorityNotice // the name in old servers' replies
	}
	return m
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
