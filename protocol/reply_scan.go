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
	p := replyScan{s: s, reply: new(SchedulerReply)}
	for name := range s.Children() {
		known := p.status(name) || p.account(name) || p.reply.scan(s, name) || p.orders(name)
		if !known {
			s.Enter()
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("scheduler reply: %w", err)
	}
	return p.reply, nil
}

type replyScan struct {
	s     *bxml.Scanner
	reply *SchedulerReply
}

// status reads elements about the server and the connection to it.
func (p *replyScan) status(name string) bool {
	s, r := p.s, p.reply
	switch name {
	case "scheduler_version":
		scanInt(s, &r.SchedulerVersion)
	case "dont_use_dcf":
		r.DontUseDCF = s.Flag()
	case "master_url":
		r.MasterURL = s.Line(maxText)
	case "ended":
		r.Ended = s.Flag()
	case "request_delay":
		scanSpan(s, &r.RequestDelay)
	case "next_rpc_delay":
		scanSpan(s, &r.NextRPCDelay)
	case "message":
		m := Message{Priority: bxml.Printable(s.Attr("priority"), maxText), Text: bxml.Printable(s.Text(), maxProse)}
		if m.Priority == "high" {
			m.Priority = PriorityNotice // the name in old servers' replies
		}
		r.Messages = appendTo(r.Messages, m)
	case refusalTag:
		r.Refusals = appendTo(r.Refusals, scanRefusal(s))
	case workEventsTag:
		r.WorkEvents = scanWorkEvents(s)
	case "project_name":
		r.ProjectName = s.Line(maxText)
	case "project_is_down":
		r.ProjectIsDown = s.Flag()
	case "code_sign_key":
		r.CodeSignKey = strings.TrimSpace(s.Raw())
	case "code_sign_key_signature":
		r.CodeSignKeySignature = strings.TrimSpace(s.Raw())
	case "no_rsc_apps":
		r.NoRscApps = appendTo(r.NoRscApps, s.Line(maxText))
	case "no_cpu_apps":
		if s.Flag() {
			r.NoRscApps = appendTo(r.NoRscApps, "CPU")
		}
	case "send_full_workload":
		r.SendFullWorkload = s.Flag()
	case "gui_urls":
		r.GUIURLs = s.Raw()
	case "rss_feeds":
		for name := range s.Children() {
			if name == "rss_feed" && len(r.Feeds) < maxFeeds {
				r.Feeds = append(r.Feeds, scanFeed(s))
			}
		}
	case "non_cpu_intensive":
		r.NonCPUIntensive = s.Flag()
	case "strict_memory_bound":
		r.StrictMemoryBound = s.Flag()
	case "verify_files_on_app_start":
		r.VerifyFilesOnAppStart = s.Flag()
	default:
		return false
	}
	return true
}

// account reads elements about the user, the host and their preferences.
func (p *replyScan) account(name string) bool {
	s, r := p.s, p.reply
	switch name {
	case "userid":
		s.Int(&p.user().ID)
	case "user_name":
		p.user().Name = s.Line(maxText)
	case "user_total_credit":
		s.Float(&p.user().TotalCredit)
	case "user_expavg_credit":
		s.Float(&p.user().ExpavgCredit)
	case "user_create_time":
		scanTime(s, &p.user().CreateTime)
	case "email_hash":
		p.user().EmailHash = s.Line(maxText)
	case "cross_project_id":
		p.user().CrossProjectID = s.Line(maxText)
	case "external_cpid":
		p.user().ExternalCPID = s.Line(maxText)
	case "teamid":
		s.Int(&p.user().TeamID)
	case "team_name":
		p.user().TeamName = s.Line(maxText)
	case "hostid":
		s.Int(&r.HostID)
	case "host_total_credit":
		s.Float(&p.host().TotalCredit)
	case "host_expavg_credit":
		s.Float(&p.host().ExpavgCredit)
	case "host_create_time":
		scanTime(s, &p.host().CreateTime)
	case "host_venue":
		v := s.Line(maxText)
		p.host().Venue = &v
	case "global_preferences":
		r.GlobalPrefs = s.Raw()
	case "project_preferences":
		r.ProjectPrefs = s.Raw()
	default:
		return false
	}
	return true
}

// orders reads elements that order the client to do something.
func (p *replyScan) orders(name string) bool {
	s, r := p.s, p.reply
	switch name {
	case "result_ack":
		r.ResultAcks = appendTo(r.ResultAcks, scanName(s))
	case "result_abort":
		r.ResultAborts = appendTo(r.ResultAborts, scanName(s))
	case "result_abort_if_not_started":
		r.ResultAbortsIfNotStarted = appendTo(r.ResultAbortsIfNotStarted, scanName(s))
	case "message_ack":
		r.MessageAck = s.Flag()
	case "trickle_down":
		r.TrickleDowns = appendTo(r.TrickleDowns, parseTrickle(s.Raw()))
	case "delete_file_info":
		// Upstream sends the name as text or inside a <name>.
		name := s.Raw()
		name = strings.TrimPrefix(strings.TrimSpace(name), "<name>")
		r.DeleteFiles = appendTo(r.DeleteFiles, strings.TrimSuffix(name, "</name>"))
	default:
		return false
	}
	return true
}

func (p *replyScan) user() *ReplyUser {
	if p.reply.User == nil {
		p.reply.User = new(ReplyUser)
	}
	return p.reply.User
}

func (p *replyScan) host() *ReplyHost {
	if p.reply.Host == nil {
		p.reply.Host = new(ReplyHost)
	}
	return p.reply.Host
}

func scanName(s *bxml.Scanner) (v string) {
	for name := range s.Children() {
		if name == "name" {
			v = s.Text()
		}
	}
	return v
}

const maxFeeds = 16 // of one project

// scanFeed reads a feed. A feed without an interval is read daily.
func scanFeed(s *bxml.Scanner) (f Feed) {
	seconds := 0.0
	for name := range s.Children() {
		switch name {
		case "url":
			f.URL = s.Line(maxText)
		case "poll_interval":
			s.Float(&seconds)
		}
	}
	if f.Poll = Seconds(seconds); f.Poll <= 0 {
		f.Poll = 24 * time.Hour
	}
	return f
}
