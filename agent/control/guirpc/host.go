package guirpc

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/state"
)

// maxHostText is the maximum length of a name of the computer, in bytes, as in BOINC.
const maxHostText = 255

// setHost adopts the product name and the domain name that a tool has for the computer. The agent
// has better values for the rest.
func (r *request) setHost() string {
	src, ok := r.block("host_info")
	if !ok {
		return errorText("Missing host_info")
	}
	product, name := "", ""
	err := bxml.NewScanner([]byte("<host_info>"+src+"</host_info>")).Decode("host_info", func(x bxml.Codec) {
		x.Text("product_name", &product)
		x.Text("domain_name", &name)
	})
	if err != nil || len(product) > maxHostText || len(name) > maxHostText {
		return errorText("host_info parse error")
	}
	if product != "" {
		err = r.srv.Agent.ChangeHost(r.ctx, func(h *state.Host) { h.Product = product })
	}
	if err == nil && name != "" {
		err = r.srv.Agent.ChangeSettings(r.ctx, func(o *settings.Settings) { o.DeviceName = name })
		if err == nil {
			err = r.srv.Agent.ReloadSettings(r.ctx)
		}
	}
	return outcome(err)
}

// language matches what may be asked for: de, pt_BR, zh-Hant.
var language = regexp.MustCompile(`^[A-Za-z]{2,8}([_-][A-Za-z0-9]{1,8})*$`)

// setLanguage makes the agent ask projects for answers in the language of the tool, or in none if
// it is empty.
func (r *request) setLanguage() string {
	l := strings.TrimSpace(r.arg("language"))
	if !r.has("language") || l != "" && !language.MatchString(l) {
		return errorText("no language found")
	}
	return outcome(r.srv.Agent.ChangeHost(r.ctx, func(h *state.Host) { h.Language = strings.ReplaceAll(l, "_", "-") }))
}

func setMode(what control.Activity) func(*request) string {
	return func(r *request) string {
		kind, d, ok := r.mode()
		if !ok {
			return errorText("Missing mode")
		}
		return outcome(r.srv.Agent.SetMode(r.ctx, what, kind, d))
	}
}

// mode returns the mode that a tool sets and its duration, 0 until changed. ok is false if the tool
// named none.
func (r *request) mode() (kind prefs.ModeKind, d time.Duration, ok bool) {
	switch {
	case r.has("always"):
		kind = prefs.Always
	case r.has("never"):
		kind = prefs.Never
	case r.has("auto"), r.has("restore"):
	default:
		return kind, 0, false
	}
	seconds, _ := strconv.ParseFloat(r.arg("duration"), 64)
	return kind, protocol.Seconds(max(0, seconds)), true
}
