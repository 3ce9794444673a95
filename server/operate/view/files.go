package view

import (
	"errors"
	"fmt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// A File is an input file of a workunit or an output file of a result.
type File struct {
	Name      string `json:"name"`                // physical
	Logical   string `json:"open_name,omitempty"` // the name under which the application opens it
	NBytes    int64  `json:"nbytes,omitempty"`    // of an output as its host reported it
	MD5       string `json:"md5,omitempty"`       // likewise
	MaxNBytes int64  `json:"max_nbytes,omitempty"`
	Sticky    bool   `json:"sticky,omitempty"`
	// GzippedNBytes is the size of the compressed copy that computers download, or 0 without one.
	GzippedNBytes int64 `json:"gzipped_nbytes,omitempty"`
	// URLs has the addresses on other servers from which computers fetch it.
	URLs     []string `json:"urls,omitempty"`
	Optional bool     `json:"optional,omitempty"`
	Missing  bool     `json:"missing,omitempty"` // the host did not report it
}

// inputs describes a workunit's input files and its command line.
func inputs(wu store.Workunit) (cmdline string, files []File, err error) {
	e, err := protocol.ParseElements([]byte(wu.XMLDoc))
	if err != nil {
		return "", nil, fmt.Errorf("workunit %s: %w", wu.Name, err)
	}
	files = []File{}
	logical := make(map[string]string)
	for _, w := range e.Workunits {
		cmdline = w.CommandLine
		for _, ref := range w.FileRefs {
			logical[ref.FileName] = ref.Logical()
		}
	}
	for _, f := range e.Files {
		files = append(files, File{Name: f.Name, Logical: logical[f.Name], NBytes: f.NBytes, MD5: f.MD5, Sticky: f.Sticky, GzippedNBytes: f.GzippedNBytes, URLs: f.DownloadURLs})
	}
	return cmdline, files, nil
}

// outputs describes a result's output files: the files that it should have, with its host's reports
// about them.
func outputs(r store.Result) ([]File, error) {
	want, err := protocol.ParseElements([]byte(r.XMLDocIn))
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", r.Name, err)
	}
	got, err := protocol.ParseElements([]byte(r.XMLDocOut))
	if err != nil {
		return nil, fmt.Errorf("result %s: what its computer reported: %w", r.Name, err)
	}
	reported := make(map[string]protocol.FileInfo)
	for _, f := range got.Files {
		reported[f.Name] = f
	}
	refs := make(map[string]protocol.FileRef)
	for _, res := range want.Results {
		for _, ref := range res.FileRefs {
			refs[ref.FileName] = ref
		}
	}
	files := []File{}
	for _, f := range want.Files {
		is, there := reported[f.Name]
		ref := refs[f.Name]
		files = append(files, File{
			Name: f.Name, Logical: ref.Logical(), NBytes: is.NBytes, MD5: is.MD5, MaxNBytes: f.MaxNBytes, Sticky: f.Sticky,
			Optional: ref.Optional, Missing: !there && r.Outcome == store.Success,
		})
	}
	return files, nil
}

// describe names the application and the version.
func (v *Result) describe(c catalog, r store.Result) {
	version := c.versions[r.AppVersionID]
	v.App, v.Platform, v.PlanClass = c.apps[r.AppID], version.Platform.Name, version.PlanClass
	if _, kind, own := store.Anonymous(r.AppVersionID); own {
		v.Anonymous, v.Platform, v.Coproc = true, protocol.PlatformAnonymous, kind
	}
}

// A HostLine is a computer where something else is shown.
type HostLine struct {
	DomainName     string `json:"domain_name"`
	LastIPAddr     string `json:"last_ip_addr,omitempty"`     // its own, as in its last request
	ExternalIPAddr string `json:"external_ip_addr,omitempty"` // from which it asked then
	OSName         string `json:"os_name"`
	OSVersion      string `json:"os_version"`
	Model          string `json:"p_model"`
	Client         string `json:"client_version,omitempty"` // likewise
}

// A UserLine is an account where something else is shown.
type UserLine struct {
	Name  string `json:"name"`
	Email string `json:"email_addr"`
}

// whose adds the computer and the account that have a result.
func (v *Result) whose(tx *store.View) error {
	if v.HostID != 0 {
		h, err := tx.Host(v.HostID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			v.Host = &HostLine{h.DomainName, h.LastIPAddr, h.ExternalIPAddr, h.OSName, h.OSVersion, h.Model, h.Client}
		}
	}
	if v.UserID != 0 {
		u, err := tx.User(v.UserID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err == nil {
			v.User = &UserLine{u.Name, u.EmailAddr}
		}
	}
	return nil
}
