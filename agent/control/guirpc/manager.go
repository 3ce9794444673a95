package guirpc

import (
	"context"
	"strings"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// writeManager writes which account manager is followed.
func writeManager(w *bxml.Writer, v view.Tools) {
	w.Open("acct_mgr_info")
	w.Text("acct_mgr_url", v.Manager.URL)
	w.Text("acct_mgr_name", v.Manager.Name)
	w.Flag("have_credentials", v.Manager.URL != "")
	w.Close("acct_mgr_info")
}

// manager joins an account manager, asks the one that is followed, or with empty arguments leaves
// it. The tool gets the outcome by polling.
func (r *request) manager() string {
	if r.has("use_config_file") {
		if v, err := r.srv.Agent.Tools(r.ctx); err != nil || v.Manager.URL == "" {
			return errorText("no account manager is in use")
		}
		return r.begin(managerReply(inProgress, ""), func(ctx context.Context) string {
			return managerOutcome(r.srv.Agent.SyncManager(ctx))
		})
	}
	if !r.has("url") || !r.has("name") || !r.has("password") {
		return errorText("bad arg")
	}
	if r.arg("url") == "" {
		err := r.srv.Agent.LeaveManager(r.ctx, false)
		r.begin(managerReply(inProgress, ""), func(context.Context) string { return managerOutcome(err) })
		return outcome(err)
	}
	url, err := protocol.CanonicalMasterURL(r.arg("url"))
	if err != nil {
		return errorText(sysfault.Plain(err))
	}
	if v, err := r.srv.Agent.Tools(r.ctx); err == nil && v.Manager.URL != "" && v.Manager.URL != url {
		return errorText("attached to a different AM - detach first")
	}
	hash, hashed := strings.CutPrefix(r.arg("password"), "hash:")
	if !hashed {
		hash = protocol.PasswordHash(r.arg("password"), r.arg("name"))
	}
	return r.begin(managerReply(inProgress, ""), func(ctx context.Context) string {
		return managerOutcome(r.srv.Agent.JoinManager(ctx, url, r.arg("name"), hash))
	})
}

func managerOutcome(err error) string {
	if err != nil {
		return managerReply(errorNum(err), sysfault.Plain(err))
	}
	return managerReply(0, "")
}

func managerReply(num int, msg string) string {
	var w bxml.Writer
	w.Open("acct_mgr_rpc_reply")
	w.TextIf("message", flat(msg))
	w.Int("error_num", int64(num))
	w.Close("acct_mgr_rpc_reply")
	return string(w.Bytes())
}
