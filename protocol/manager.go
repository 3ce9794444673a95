package protocol

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A ManagerRequest is the message that a host sends to its account manager, at rpc.php below the
// manager's address.
//
// Source: BOINC client/acct_mgr.cpp, ACCT_MGR_OP::do_rpc.
type ManagerRequest struct {
	Name          string        // of the account at the manager
	PasswordHash  string        // see PasswordHash, with the name instead of the e-mail address
	Authenticator Authenticator // used instead of name and hash, if the manager gave one

	HostCPID, PreviousCPID string
	DomainName             string
	Client                 Version
	RunMode                string // always, auto or never
	Platform               string
	AltPlatforms           []string
	Projects               []ManagedProject
	WorkingPrefs           string // content of <global_preferences>
	GlobalPrefs            string // the same as the manager or a project sent them
	Opaque                 string // from the manager's last reply
	Host                   HostInfo
	TimeStats              TimeStats
	NetStats               NetStats
}

// A ManagedProject is the description of a project in a request, whether the manager or the
// volunteer attached it.
type ManagedProject struct {
	URL, Name        string
	AccountKey       Authenticator // sent only for projects that the manager attached
	Managed          bool          // attached by the manager
	HostID           int64
	NotStarted       time.Duration // time of computing
	InProgress       time.Duration
	Suspended        bool
	NoMoreWork       bool
	DetachWhenDone   bool
	Ended            bool
	ResourceShare    float64
	DiskUsage        float64 // bytes
	DiskShare        float64 // bytes that the project may use
	Failures         int     // number of failed RPCs since the last reply
	Succeeded, Wrong int     // number of results
}

// Encode returns the request's body.
func (r *ManagerRequest) Encode() []byte {
	var w bxml.Writer
	w.Open("acct_mgr_request")
	if r.Authenticator != "" {
		w.Text("authenticator", string(r.Authenticator))
	} else {
		w.Text("name", r.Name)
		w.Text("password_hash", r.PasswordHash)
	}
	w.Text("host_cpid", r.HostCPID)
	w.Text("domain_name", r.DomainName)
	w.Text("client_version", fmt.Sprintf("%d.%d.%d", r.Client.Major, r.Client.Minor, r.Client.Release))
	w.Text("run_mode", r.RunMode)
	w.Text("platform_name", r.Platform)
	writeNames(&w, "alt_platform", r.AltPlatforms)
	w.TextIf("previous_host_cpid", r.PreviousCPID)
	for _, p := range r.Projects {
		p.write(&w)
	}
	w.Open("working_global_preferences")
	w.Block("global_preferences", r.WorkingPrefs)
	w.Close("working_global_preferences")
	if r.GlobalPrefs != "" {
		w.Block("global_preferences", r.GlobalPrefs)
	}
	w.Element("host_info", r.Host.fields)
	if r.Opaque != "" {
		w.Block("opaque", r.Opaque)
	}
	w.Element("time_stats", r.TimeStats.fields)
	w.Element("net_stats", r.NetStats.fields)
	w.Close("acct_mgr_request")
	return w.Bytes()
}

func (p ManagedProject) write(w *bxml.Writer) {
	w.Open("project")
	w.Text("url", p.URL)
	w.Text("project_name", p.Name)
	w.Bool("suspended_via_gui", p.Suspended)
	w.Int("hostid", p.HostID)
	w.Float("not_started_dur", p.NotStarted.Seconds())
	w.Float("in_progress_dur", p.InProgress.Seconds())
	w.Bool("attached_via_acct_mgr", p.Managed)
	w.Bool("dont_request_more_work", p.NoMoreWork)
	w.Bool("detach_when_done", p.DetachWhenDone)
	w.Bool("ended", p.Ended)
	w.Float("resource_share", p.ResourceShare)
	w.Float("disk_usage", p.DiskUsage)
	w.Float("disk_share", p.DiskShare)
	w.Int("nrpc_failures", int64(p.Failures))
	w.Int("njobs_success", int64(p.Succeeded))
	w.Int("njobs_error", int64(p.Wrong))
	if p.Managed {
		w.Text("account_key", string(p.AccountKey))
	}
	w.Close("project")
}

// A ManagerReply is the reply of an account manager.
//
// Source: BOINC client/acct_mgr.cpp, ACCT_MGR_OP::parse.
type ManagerReply struct {
	ErrorNum      int
	Error         string   // reason of a refusal, in words
	Messages      []string // for the volunteer
	Name          string   // of the manager
	UserName      string
	TeamName      string
	Authenticator Authenticator // to be used from now on instead of name and password
	SigningKey    string
	Opaque        string
	Repeat        time.Duration // until the next contact, or 0 if not given
	NoNotices     bool          // notices of projects must not be shown
	Dynamic       bool          // it chooses the projects itself, and its preferences override the projects' preferences
	Venue         string
	GlobalPrefs   string // content of <global_preferences>
	Accounts      []ManagerAccount
}

// A ManagerAccount is a project that the manager wants, or no longer wants, this host to work for.
// A nil field was not in the reply.
type ManagerAccount struct {
	URL             string
	URLSignature    string // signature of the URL by the manager's signing key
	Authenticator   Authenticator
	Detach          bool
	Update          bool // contact it now
	NoCPU           bool // do not use the CPU for it
	NoMoreWork      *bool
	DetachWhenDone  *bool
	Suspend         *bool
	AbortNotStarted bool
	ResourceShare   *float64
}

// ParseManagerReply reads an account manager's reply. Accounts without a URL are left out.
func ParseManagerReply(b []byte) (*ManagerReply, error) {
	r := new(ManagerReply)
	if err := bxml.NewScanner(b).Foreign().Decode("acct_mgr_reply", r.fields); err != nil {
		return nil, fmt.Errorf("account manager's reply: %w", err)
	}
	return r, nil
}

func (r *ManagerReply) fields(x bxml.Codec) {
	integer(x, "error_num", &r.ErrorNum)
	prose(x, "error", &r.Error)
	prose(x, "error_msg", &r.Error)
	if s := x.Reading("message"); s != nil && len(r.Messages) < 100 {
		r.Messages = append(r.Messages, bxml.Printable(s.Text(), maxProse))
	}
	x.Line("name", &r.Name, maxText)
	x.Line("user_name", &r.UserName, maxText)
	x.Line("team_name", &r.TeamName, maxText)
	x.Line("authenticator", (*string)(&r.Authenticator), maxText)
	x.Raw("signing_key", &r.SigningKey)
	x.Raw("opaque", &r.Opaque)
	span(x, "repeat_sec", &r.Repeat)
	x.Flag("dynamic", &r.Dynamic)
	x.Flag("no_project_notices", &r.NoNotices)
	x.Line("host_venue", &r.Venue, maxText)
	x.Raw("global_preferences", &r.GlobalPrefs)
	each(x, "account", &r.Accounts)
	if n := len(r.Accounts) - 1; x.Reading("account") != nil && r.Accounts[n].URL == "" {
		r.Accounts = r.Accounts[:n]
	}
}

func (a *ManagerAccount) fields(x bxml.Codec) {
	x.Line("url", &a.URL, maxText)
	x.Raw("url_signature", &a.URLSignature)
	x.Line("authenticator", (*string)(&a.Authenticator), maxText)
	x.Flag("detach", &a.Detach)
	x.Flag("update", &a.Update)
	x.Flag("no_cpu", &a.NoCPU)
	if s := x.Reading("no_rsc"); s != nil {
		a.NoCPU = s.Text() == "CPU" || a.NoCPU
	}
	given(x, "dont_request_more_work", &a.NoMoreWork)
	given(x, "detach_when_done", &a.DetachWhenDone)
	given(x, "suspend", &a.Suspend)
	x.Flag("abort_not_started", &a.AbortNotStarted)
	if s := x.Reading("resource_share"); s != nil {
		share := -1.0
		if s.Float(&share); share >= 0 {
			a.ResourceShare = &share
		}
	}
}

// given reads a flag that may be missing.
func given(x bxml.Codec, name string, v **bool) {
	if s := x.Reading(name); s != nil {
		*v = new(s.Flag())
	}
}
