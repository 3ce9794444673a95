package guirpc

import (
	"fmt"
	"strconv"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// A call answers one kind of request.
type call struct {
	open bool // tools on this computer may call it without a password
	do   func(*request) string
}

// table lists the calls.
func table() map[string]call {
	t := make(map[string]call)
	for name, do := range map[string]func(*request) string{
		"exchange_versions": (*request).exchangeVersions, "get_state": shows(writeState), "get_results": (*request).results,
		"get_simple_gui_info": shows(writeSimple), "get_project_status": shows(writeProjects), "get_cc_status": shows(writeStatus),
		"get_host_info": shows(writeHost), "get_messages": (*request).messages, "get_message_count": (*request).messageCount,
		"get_notices_public": (*request).notices, "get_file_transfers": shows(writeTransfers), "get_disk_usage": shows(writeDisk),
		"get_statistics": shows(writeStatistics), "get_daily_xfer_history": shows(writeTraffic), "get_old_results": shows(writeOld),
		"get_screensaver_tasks": shows(writeScreensaver), "get_newer_version": shows(writeNewer),
		"get_all_projects_list": (*request).allProjects,
	} {
		t[name] = call{true, do}
	}
	for name, do := range map[string]func(*request) string{
		"get_notices": (*request).notices, "acct_mgr_info": shows(writeManager), "get_project_init_status": text("<get_project_init_status>\n</get_project_init_status>\n"),
		"get_proxy_settings": shows(writeProxy), "get_global_prefs_file": shows(writePrefsFile),
		"get_global_prefs_working": shows(writePrefsWorking), "get_global_prefs_override": shows(writePrefsOverride),
		"get_cc_config": shows(writeConfig), "get_app_config": (*request).appConfig,
		"set_language": (*request).setLanguage, "network_available": reload, "read_cc_config": (*request).readConfig, "read_global_prefs_override": reload,
		"set_global_prefs_override": (*request).setOverride,
		"set_cc_config":             (*request).setConfig,
		"set_app_config":            (*request).setAppConfig,
		"set_proxy_settings":        (*request).setProxy,
		"set_host_info":             (*request).setHost, "reset_host_info": benchmark, "run_benchmarks": benchmark,
		"run_graphics_app": refused("graphics are not supported"),
		"acct_mgr_rpc":     (*request).manager, "acct_mgr_rpc_poll": poll("acct_mgr_rpc"),

		"project_update": project(control.UpdateProject), "project_suspend": project(control.SuspendProject),
		"project_resume": project(control.ResumeProject), "project_nomorework": project(control.NoMoreWork),
		"project_allowmorework": project(control.AllowMoreWork), "project_reset": project(control.ResetProject),
		"project_detach_when_done": project(control.DetachDone), "project_dont_detach_when_done": project(control.StayAttached),
		"project_detach": (*request).detach,
		"suspend_result": task(control.SuspendTask), "resume_result": task(control.ResumeTask), "abort_result": task(control.AbortTask),
		"retry_file_transfer": transfer(false), "abort_file_transfer": transfer(true),
		"set_run_mode": setMode(control.Computing), "set_network_mode": setMode(control.Network), "set_gpu_mode": setMode(control.GPUs),

		"project_attach": (*request).attach, "project_attach_poll": (*request).attachPoll,
		"get_project_config": (*request).projectConfig, "get_project_config_poll": poll("get_project_config"),
		"lookup_account": (*request).lookupAccount, "lookup_account_poll": poll("lookup_account"),
		"create_account": (*request).createAccount, "create_account_poll": poll("create_account"),
		"quit": (*request).quit,
	} {
		t[name] = call{false, do}
	}
	return t
}

func text(s string) func(*request) string { return func(*request) string { return s } }

func refused(why string) func(*request) string { return text(errorText(why)) }

// view answers with something of the agent's view.
func shows(write func(*bxml.Writer, view.Tools)) func(*request) string {
	return func(r *request) string {
		v, err := r.srv.Agent.Tools(r.ctx)
		if err != nil {
			return errorText(sysfault.Plain(err))
		}
		var w bxml.Writer
		write(&w, v)
		return string(w.Bytes())
	}
}

func (r *request) exchangeVersions() string {
	v := protocol.CompatVersion
	return fmt.Sprintf("<server_version>\n   <major>%d</major>\n   <minor>%d</minor>\n   <release>%d</release>\n</server_version>\n", v.Major, v.Minor, v.Release)
}

func (r *request) results() string {
	active := r.arg("active_only") == "1"
	return shows(func(w *bxml.Writer, v view.Tools) { writeResults(w, v, active) })(r)
}

func (r *request) messages() string {
	after, _ := strconv.Atoi(r.arg("seqno"))
	var w bxml.Writer
	log, err := r.srv.Agent.Log(r.ctx, after)
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	writeMessages(&w, log.Messages)
	return string(w.Bytes())
}

func (r *request) messageCount() string {
	last := 0
	if log, err := r.srv.Agent.Log(r.ctx, -1); err == nil && len(log.Messages) > 0 {
		last = log.Messages[len(log.Messages)-1].Seqno
	}
	return fmt.Sprintf("<seqno>%d</seqno>\n", last)
}

// readConfig reads the settings again and, as BOINC does, the other files next to them.
func (r *request) readConfig() string {
	if err := r.srv.Agent.ReloadSettings(r.ctx); err != nil {
		return errorText(sysfault.Plain(err))
	}
	return reload(r)
}

func reload(r *request) string { return outcome(r.srv.Agent.Reload(r.ctx)) }

func benchmark(r *request) string { return outcome(r.srv.Agent.Benchmark(r.ctx)) }

func (r *request) setOverride() string {
	src, ok := r.block("global_preferences")
	if !ok {
		return outcome(r.srv.Agent.SetPrefsOverride(r.ctx, prefs.Layer{}))
	}
	l, _, err := prefs.ParseXML("set by a tool", src, "", false)
	if err == nil {
		err = r.srv.Agent.SetPrefsOverride(r.ctx, l)
	}
	return outcome(err)
}

// url returns the canonical form of a project's URL, or "" if it is not a URL. No project has that.
func (r *request) url(arg string) string {
	url, _ := protocol.CanonicalMasterURL(r.arg(arg))
	return url
}

func project(what control.ProjectAction) func(*request) string {
	return func(r *request) string {
		return outcome(r.srv.Agent.SteerProject(r.ctx, r.url("project_url"), what))
	}
}

func (r *request) detach() string {
	return outcome(r.srv.Agent.Detach(r.ctx, r.url("project_url")))
}

func task(what control.TaskAction) func(*request) string {
	return func(r *request) string {
		if r.arg("name") == "" {
			return errorText("Missing result name")
		}
		return outcome(r.srv.Agent.SteerTask(r.ctx, r.url("project_url"), r.arg("name"), what))
	}
}

func transfer(abort bool) func(*request) string {
	return func(r *request) string {
		return outcome(r.srv.Agent.SteerTransfer(r.ctx, r.url("project_url"), r.arg("filename"), abort))
	}
}

func (r *request) attach() string {
	key := protocol.Authenticator(r.arg("authenticator"))
	url, err := protocol.CanonicalMasterURL(r.arg("project_url"))
	switch {
	case r.arg("project_url") == "":
		return errorText("Missing URL")
	case err != nil:
		return errorText(sysfault.Plain(err))
	case key == "":
		return errorText("Missing authenticator")
	}
	return outcome(r.srv.Agent.Attach(r.ctx, url, key))
}

func (r *request) attachPoll() string {
	return "<project_attach_reply>\n<error_num>0</error_num>\n</project_attach_reply>\n"
}

func (r *request) quit() string {
	r.srv.Agent.Quit()
	return success
}
