package workgen

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// A Remote is an input file on another server, from which computers fetch it. A change of
// it there is noticed by its size and checksum, and is an error of the download.
type Remote struct {
	URL    string
	NBytes int64
	MD5    string // 32 hex digits, lower case
}

// ParseRemote reads "URL NBYTES MD5", and after that the name under which the application
// opens the file, unless that is the file's own.
func ParseRemote(text string) (Given, error) {
	part := strings.Fields(text)
	if len(part) != 3 && len(part) != 4 {
		return Given{}, fmt.Errorf("%q: want URL, size in bytes and MD5 with spaces between them, for example \"https://data.example/a.dat 1048576 0cc175b9c0f1b6a831c399e269772661\"", text)
	}
	n, err := strconv.ParseInt(part[1], 10, 64)
	if err != nil {
		return Given{}, fmt.Errorf("%q: size %q: want a number of bytes", part[0], part[1])
	}
	g := Given{Kind: Elsewhere, Remote: Remote{URL: part[0], NBytes: n, MD5: strings.ToLower(part[2])}}
	if len(part) == 4 {
		g.Logical = part[3]
	}
	_, err = g.Remote.info()
	return g, err
}

// base returns the name of the file at its URL, or "" if it has no name.
func (r Remote) base() string {
	u, err := url.Parse(r.URL)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return ""
	}
	return path.Base(u.Path)
}

// File returns a name for a copy of the file that is valid on any disk, made from its name at its
// URL.
func (r Remote) File() string {
	name := safe(r.base())
	return name[:min(len(name), 100)]
}

// Name is the name under which the project hands out a copy with that checksum.
func (r Remote) Name() string { return physical(r.File(), r.MD5) }

func (r Remote) info() (protocol.FileInfo, error) {
	f := protocol.FileInfo{DownloadURLs: []string{r.URL}, NBytes: r.NBytes, MD5: r.MD5}
	if err := checkRemote(f); err != nil {
		return f, fmt.Errorf("input file %s: %w", r.URL, err)
	}
	f.Name = physical(r.base(), r.MD5)
	return f, nil
}

// checkRemote returns an error unless a client can fetch a file and verify it.
func checkRemote(f protocol.FileInfo) error {
	for _, u := range f.DownloadURLs {
		if at, err := url.Parse(u); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" {
			return fmt.Errorf("<url> %q: want an http:// or https:// address", u)
		}
	}
	if len(f.DownloadURLs) == 0 || len(f.MD5) != 32 || strings.Trim(f.MD5, "0123456789abcdef") != "" || f.NBytes <= 0 {
		return errors.New("a file on another server needs its URL, its size in bytes (<nbytes>) and its MD5 in 32 hex digits (<md5_cksum>)")
	}
	return nil
}
