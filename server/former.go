package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// clientCalls are the paths below a project's address that programs request and that must be
// answered there: not all programs follow a redirection, and none with a body. The empty path is
// the page with the scheduler's address.
var clientCalls = []string{
	"", "cgi", "file_upload_handler", "get_project_config.php", "lookup_account.php", "create_account.php", "server_status.php",
	"am_get_info.php", "am_set_host_info.php", "show_user.php", "news.xml",
}

// former has h, which answers below the address now, answer below those that a project had
// before as well. Pages for people are redirected, as their cookies are for the new
// address. Which host a request names is of no interest: it has come here.
func former(now string, before []string, h http.Handler) (http.Handler, error) {
	u, err := url.Parse(now)
	if err != nil {
		return nil, err
	}
	var bases []string
	for _, s := range before {
		old, err := url.Parse(s)
		if err != nil {
			return nil, err
		}
		if old.Path != u.Path {
			bases = append(bases, old.Path)
		}
	}
	if len(bases) == 0 {
		return h, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := longest(bases, r.URL.Path)
		if base == "" || strings.HasPrefix(r.URL.Path, u.Path) && len(u.Path) > len(base) {
			h.ServeHTTP(w, r)
			return
		}
		below := strings.TrimPrefix(r.URL.Path, base)
		if !isClientCall(below) {
			to := *u
			to.Path, to.RawQuery = u.Path+below, r.URL.RawQuery
			http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
			return
		}
		moved := *r
		moved.URL = new(url.URL)
		*moved.URL = *r.URL
		moved.URL.Path, moved.URL.RawPath = u.Path+below, ""
		h.ServeHTTP(w, &moved)
	}), nil
}

func isClientCall(below string) bool {
	return slices.Contains(clientCalls, below) || strings.HasPrefix(below, "download/") || strings.HasPrefix(below, "stats/")
}

// longest returns the longest of some paths below which another one lies, or "".
func longest(bases []string, path string) (found string) {
	for _, base := range bases {
		if strings.HasPrefix(path, base) && len(base) > len(found) {
			found = base
		}
	}
	return found
}
