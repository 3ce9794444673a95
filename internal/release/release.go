// Package release asks which version of Starling is the newest. It fetches and
// installs nothing.
package release

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/mod/semver"
)

// A Release is a version that can be had.
type Release struct {
	Version string `json:"version"` // such as 1.2.3
	URL     string `json:"url"`     // a page for people that explains how to get it
}

const maxAnswer = 1 << 20

// Read takes a server's answer: JSON with tag_name and html_url, as GitHub describes
// a release.
func Read(resp *http.Response) (Release, error) {
	if resp.StatusCode != http.StatusOK {
		return Release{}, fmt.Errorf("HTTP %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	var r struct {
		Tag string `json:"tag_name"`
		URL string `json:"html_url"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&r); err != nil {
		return Release{}, fmt.Errorf("read release description: %w", err)
	}
	tag := canonical(r.Tag)
	if !semver.IsValid(tag) {
		return Release{}, fmt.Errorf("tag_name %.40q is not a version", r.Tag)
	}
	if u, err := url.Parse(r.URL); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return Release{}, fmt.Errorf("html_url %.200q is not a URL", r.URL)
	}
	return Release{Version: strings.TrimPrefix(tag, "v"), URL: r.URL}, nil
}

// After reports whether r is newer than a version. Prereleases (1.2.3-rc1) do not count.
func (r Release) After(version string) bool {
	tag := canonical(r.Version)
	return semver.Prerelease(tag) == "" && semver.Compare(tag, canonical(version)) > 0
}

func canonical(version string) string { return "v" + strings.TrimPrefix(version, "v") }
