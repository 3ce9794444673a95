package protocol

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// ErrNoScheduler means that a page is not a project's master page.
var ErrNoScheduler = errors.New("no scheduler URL in the master page")

const maxSchedulers = 32

// SchedulerURLs returns the distinct scheduler URLs of a master page in their order: the contents
// of <scheduler> elements and of links with rel boinc_scheduler. Unlike BOINC's client it is not
// limited to lines of 255 bytes.
func SchedulerURLs(page []byte) ([]string, error) {
	var urls []string
	add := func(u string) {
		u = strings.TrimSpace(u)
		if validHTTP(u) && !slices.Contains(urls, u) && len(urls) < maxSchedulers {
			urls = append(urls, u)
		}
	}
	const open, shut = "<scheduler>", "</scheduler>"
	const link = `<link rel="boinc_scheduler" href="`
	for {
		i := bytes.IndexByte(page, '<')
		if i < 0 {
			break
		}
		page = page[i:]
		switch {
		case bytes.HasPrefix(page, []byte(open)):
			page = page[len(open):]
			if n := bytes.Index(page[:min(len(page), maxName+len(shut))], []byte(shut)); n >= 0 {
				add(string(page[:n]))
			}
		case bytes.HasPrefix(page, []byte(link)):
			page = page[len(link):]
			if n := bytes.IndexByte(page[:min(len(page), maxName+1)], '"'); n >= 0 {
				add(string(page[:n]))
			}
		default:
			page = page[1:]
		}
	}
	if len(urls) == 0 {
		return nil, ErrNoScheduler
	}
	return urls, nil
}

func validHTTP(u string) bool {
	if len(u) > maxName || strings.ContainsFunc(u, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '<' || c == '>' || c == '"' }) {
		return false
	}
	return strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://")
}
