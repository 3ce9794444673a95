package boincconfig

import (
	"cmp"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol/bxml"
)

// usualProxyPort is the default of BOINC's client.
const usualProxyPort = "80"

// WriteProxy writes the proxy in the settings. A proxy from the environment is not shown, as tools
// cannot change it.
func WriteProxy(w *bxml.Writer, s settings.Settings) {
	u, err := url.Parse(s.Proxy)
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
	w.Text("no_proxy", strings.Join(s.NoProxy, ","))
	w.Bool("no_autodetect", false)
	w.Close("proxy_info")
}

// ParseProxy returns the proxy in a <proxy_info>, in the form of the setting of that name ("" for
// none), and the hosts that are reached without it.
func ParseProxy(src []byte) (proxy string, except []string, err error) {
	s := bxml.NewScanner(src)
	if err := s.Find("proxy_info"); err != nil {
		return "", nil, err
	}
	proxy, except = scanProxy(s, false)
	return proxy, except, s.Err()
}

// scanProxy reads a <proxy_info>. In a file, other than in a call of tools, a proxy that is
// named is used.
//
// Source: BOINC lib/proxy_info.cpp, PROXY_INFO::parse_config.
func scanProxy(s *bxml.Scanner, file bool) (proxy string, except []string) {
	said := make(map[string]string)
	used := make(map[string]bool)
	for name := range s.Children() {
		if strings.HasPrefix(name, "use_") || name == "socks5_remote_dns" {
			used[name] = s.Flag()
		} else {
			said[name] = strings.TrimSpace(s.Text())
		}
	}
	if file {
		used["use_http_proxy"] = used["use_http_proxy"] || said["http_server_name"] != ""
		used["use_socks_proxy"] = used["use_socks_proxy"] || said["socks_server_name"] != ""
		used["use_http_auth"] = used["use_http_auth"] || said["http_user_name"] != ""
	}
	switch {
	case used["use_socks_proxy"]:
		scheme := "socks5"
		if used["socks5_remote_dns"] {
			scheme = "socks5h"
		}
		proxy = proxyURL(scheme, said["socks_server_name"], said["socks_server_port"], said["socks5_user_name"], said["socks5_user_passwd"], true)
	case used["use_http_proxy"]:
		proxy = proxyURL("http", said["http_server_name"], said["http_server_port"], said["http_user_name"], said["http_user_passwd"], used["use_http_auth"])
	}
	except = strings.FieldsFunc(said["no_proxy"], func(c rune) bool { return c == ',' || c == ' ' })
	return proxy, except
}

func proxyURL(scheme, host, port, user, password string, auth bool) string {
	host = strings.TrimPrefix(strings.TrimPrefix(host, "http://"), "https://") // people write it into tools' forms
	u := url.URL{Scheme: scheme, Host: host}
	if n, err := strconv.Atoi(port); err == nil && n > 0 {
		u.Host = net.JoinHostPort(host, port)
	}
	if auth && user != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}
