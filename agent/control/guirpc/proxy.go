package guirpc

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/protocol/bxml"
)

// usualProxyPort is what BOINC's client says where none is set.
const usualProxyPort = "80"

// writeProxy shows the proxy that the settings name; one of the environment is
// not shown, as it is not the tools' to change.
func writeProxy(w *bxml.Writer, v view.Tools) {
	u, err := url.Parse(v.Settings.Proxy)
	if err != nil || u.Host == "" {
		u = new(url.URL)
	}
	socks := strings.HasPrefix(u.Scheme, "socks")
	password, _ := u.User.Password()
	side := func(mine bool, user, pass, server, port string) {
		var at url.URL
		name, word := "", ""
		if mine {
			at, name, word = *u, u.User.Username(), password
		}
		w.Text(server, at.Hostname())
		w.Text(port, cmp.Or(at.Port(), usualProxyPort))
		w.Text(user, name)
		w.Text(pass, word)
	}
	w.Open("proxy_info")
	w.Flag("use_http_proxy", u.Host != "" && !socks)
	w.Flag("use_socks_proxy", socks)
	w.Flag("use_http_auth", !socks && u.User != nil)
	side(!socks, "http_user_name", "http_user_passwd", "http_server_name", "http_server_port")
	side(socks, "socks5_user_name", "socks5_user_passwd", "socks_server_name", "socks_server_port")
	w.Bool("socks5_remote_dns", u.Scheme == "socks5h")
	w.Text("no_proxy", strings.Join(v.Settings.NoProxy, ","))
	w.Bool("no_autodetect", false)
	w.Close("proxy_info")
}

// setProxy has projects be reached by the proxy that a tool names, from now on.
func (r *request) setProxy() string {
	src, ok := r.block("proxy_info")
	if !ok {
		return errorText("Missing proxy_info")
	}
	proxy, except, err := boincconfig.ParseProxy([]byte("<proxy_info>" + src + "</proxy_info>"))
	if err != nil {
		return errorText(err.Error())
	}
	if err := httpclient.CheckProxy(proxy); err != nil {
		return errorText(err.Error())
	}
	err = r.srv.Agent.ChangeSettings(r.ctx, func(o *settings.Settings) { o.Proxy, o.NoProxy = proxy, except })
	if err == nil {
		err = r.srv.Agent.ReloadSettings(r.ctx)
	}
	return outcome(err)
}
