// Package venue splits preferences by the groups of computers to which they apply, BOINC's venues.
// The general preferences and those of projects have the same form. They consist of elements for
// all computers, and of <venue name="…"> with elements that replace them at one venue.
package venue

import (
	"slices"

	"github.com/starling-grid/starling/protocol/bxml"
)

// Names are all venues there are.
var Names = []string{"home", "school", "work"}

// A Sets is preferences taken apart. Its texts are elements, one a line.
type Sets struct {
	All    string // for all venues without preferences
	venues []named
}

type named struct{ name, xml string }

// Split splits preferences. It leaves out unreadable parts.
func Split(xml string) (s Sets) {
	var all bxml.Writer
	Each(xml, func(c *bxml.Scanner, name string) {
		if name != "venue" {
			Keep(&all, c, name)
			return
		}
		at := c.Attr("name")
		var own bxml.Writer
		Each(c.Raw(), func(c *bxml.Scanner, name string) { Keep(&own, c, name) })
		s.venues = append(s.venues, named{at, string(own.Bytes())})
	})
	s.All = string(all.Bytes())
	return s
}

// String returns the preferences put together again.
func (s Sets) String() string {
	var w bxml.Writer
	w.Raw(s.All)
	for _, v := range s.venues {
		w.Raw(`<venue name="` + bxml.EscapeAttr(v.name) + "\">\n" + v.xml + "</venue>\n")
	}
	return string(w.Bytes())
}

// For returns the preferences for a venue, or All if the venue lacks any.
func (s Sets) For(name string) string {
	if own, ok := s.Own(name); ok {
		return own
	}
	return s.All
}

// Own returns the preferences for only this venue, if there are any.
func (s Sets) Own(name string) (string, bool) {
	i := slices.IndexFunc(s.venues, func(v named) bool { return v.name == name })
	if name == "" || i < 0 {
		return "", false
	}
	return s.venues[i].xml, true
}

// Set sets the preferences of a venue, or All if name is "".
func (s *Sets) Set(name, xml string) {
	if name == "" {
		s.All = xml
		return
	}
	s.venues = slices.Clone(s.venues)
	for i := range s.venues {
		if s.venues[i].name == name {
			s.venues[i].xml = xml
			return
		}
	}
	s.venues = append(s.venues, named{name, xml})
}

// Drop takes a venue's own preferences away.
func (s *Sets) Drop(name string) {
	s.venues = slices.DeleteFunc(slices.Clone(s.venues), func(v named) bool { return v.name == name })
}

// Each calls visit at each element at the top of a text, which it may read.
func Each(xml string, visit func(s *bxml.Scanner, name string)) {
	s := bxml.NewScanner([]byte("<p>" + xml + "</p>"))
	if s.Find("p") != nil {
		return
	}
	for name := range s.Children() {
		visit(s, name)
	}
}

// Keep copies the scanner's current element to w without its attributes.
func Keep(w *bxml.Writer, s *bxml.Scanner, name string) {
	w.Raw("<" + name + ">" + s.Raw() + "</" + name + ">\n")
}
