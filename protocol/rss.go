package protocol

import (
	"errors"
	"fmt"
	"net/mail"
	"time"
	"unicode/utf8"

	"github.com/starling-grid/starling/protocol/bxml"
)

// A NewsItem is an item of a project's feed, which is RSS 2.0.
//
// Source: BOINC client/cs_notice.cpp, NOTICE::parse_rss.
type NewsItem struct {
	GUID        string // "" if the feed gives none
	Title       string
	Description string // HTML
	Link        string
	Date        time.Time // zero: not known
}

const (
	maxItems = 200     // of one feed; further ones are left out
	maxGUID  = 1 << 10 // bytes
	maxLink  = 2 << 10 // bytes
)

var errNoFeed = errors.New("not a feed in RSS")

// ParseFeed reads a feed. One that ends in the middle is an error: what it lacks would
// be taken for what the project withdrew.
func ParseFeed(b []byte) ([]NewsItem, error) {
	s := bxml.NewScanner(asUTF8(b)).Foreign()
	if err := s.Find("rss"); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFeed, err)
	}
	var items []NewsItem
	for name := range s.Children() {
		if name != "channel" {
			continue
		}
		for name := range s.Children() {
			if name == "item" && len(items) < maxItems {
				items = append(items, scanItem(s))
			}
		}
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	return items, nil
}

func scanItem(s *bxml.Scanner) (v NewsItem) {
	for name := range s.Children() {
		switch name {
		case "title":
			v.Title = s.Line(maxLink)
		case "link":
			v.Link = s.Line(maxLink)
		case "guid":
			v.GUID = s.Line(maxGUID)
		case "description":
			v.Description = s.Text()
		case "pubDate":
			v.Date, _ = mail.ParseDate(s.Line(maxText)) // or it is not known
		}
	}
	return v
}

// asUTF8 takes a text that is no UTF-8 for Latin-1, as old sites write it.
func asUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	text := make([]byte, 0, len(b)+len(b)/4)
	for _, c := range b {
		text = utf8.AppendRune(text, rune(c))
	}
	return text
}
