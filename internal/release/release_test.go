package release_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/starling-grid/starling/internal/release"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		status     int
		body       string
		want, fail string
	}{
		{200, `{"tag_name": "v1.2.3", "html_url": "https://e.example/1.2.3", "assets": []}`, "1.2.3", ""},
		{200, `{"tag_name": "1.10.0", "html_url": "http://e.example/x"}`, "1.10.0", ""},
		{404, `{}`, "", "404"},
		{200, `<html>`, "", "read release description"},
		{200, `{"tag_name": "latest", "html_url": "https://e.example/"}`, "", `"latest" is not a version`},
		{200, `{"tag_name": "1.2.3\u001b[31m", "html_url": "https://e.example/"}`, "", "is not a version"},
		{200, `{"tag_name": "1.2.3", "html_url": "javascript:alert(1)"}`, "", "is not a URL"},
		{200, strings.Repeat(" ", 2<<20) + `{"tag_name": "1.2.3"}`, "", "read release description"},
	} {
		r, err := release.Read(&http.Response{StatusCode: tt.status, Status: "404 Not Found", Body: io.NopCloser(strings.NewReader(tt.body))})
		if r.Version != tt.want || (err == nil) != (tt.fail == "") || err != nil && !strings.Contains(err.Error(), tt.fail) {
			t.Errorf("%.60s: got %+v, %v; want %q, %q", tt.body, r, err, tt.want, tt.fail)
		}
	}
}

// FuzzRead lets a server answer anything. Only a version and an address are ever shown.
func FuzzRead(f *testing.F) {
	f.Add(`{"tag_name": "v1.2.3", "html_url": "https://e.example/1.2.3"}`)
	f.Add(`{"tag_name": "1.2.3-rc1+b", "html_url": "http://[::1%25x]/\u001b"}`)
	f.Fuzz(func(t *testing.T, body string) {
		r, err := release.Read(&http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))})
		if err != nil {
			return
		}
		if strings.Trim(r.Version, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-") != "" {
			t.Errorf("version %q", r.Version)
		}
		if u, err := url.Parse(r.URL); err != nil || u.Host == "" || strings.ContainsFunc(r.URL, unicode.IsControl) {
			t.Errorf("address %q: %v", r.URL, err)
		}
		_ = r.After("1.2.3")
	})
}

func TestAfter(t *testing.T) {
	for _, tt := range []struct {
		newest, have string
		want         bool
	}{
		{"1.2.3", "1.2.3", false},
		{"1.2.4", "1.2.3", true},
		{"1.10.0", "1.9.9", true},
		{"1.2.2", "1.2.3", false},
		{"1.2.3", "1.2.3-dev", true},
		{"1.3.0-rc1", "1.2.3", false},
		{"0.2.0", "0.1.0-5-gabcdef", true},
	} {
		if got := (release.Release{Version: tt.newest}).After(tt.have); got != tt.want {
			t.Errorf("%s after %s: %v", tt.newest, tt.have, got)
		}
	}
}
