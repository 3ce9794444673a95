package protocol

import "github.com/starling-grid/starling/protocol/bxml"

// A GUIURL is a link to a page of a project that clients show.
type GUIURL struct {
	Name        string
	Description string
	URL         string
}

const maxGUIURLs = 30 // of one project

// ParseGUIURLs reads the content of <gui_urls>. Links without a name or an address are left out.
// The caller must check the kind of address.
//
// Source: BOINC lib/gui_rpc_client_ops.cpp, GUI_URL::parse.
func ParseGUIURLs(raw string) (links []GUIURL) {
	s := bxml.NewScanner([]byte(raw)).Foreign()
	for len(links) < maxGUIURLs && s.Find("gui_url") == nil {
		l := scanned[GUIURL](s)
		if s.Err() == nil && l.Name != "" && l.URL != "" {
			links = append(links, l)
		}
	}
	return links
}

func (l *GUIURL) fields(x bxml.Codec) {
	x.Line("name", &l.Name, maxText)
	x.Line("description", &l.Description, maxText)
	x.Line("url", &l.URL, maxLink)
}
