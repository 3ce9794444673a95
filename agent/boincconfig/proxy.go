package boincconfig

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseProxy returns the proxy that a <proxy_info> has a client use, as the setting of
// that name has it ("" for none), and the hosts that are reached without it.
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
