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
	GUID        string // "" if the feed has none
	Title       string
	Description string // HTML
	Link        string
	Date        time.Time // zero if unknown
}

const (
	maxItems = 200     // maximum number of items of one feed. Further ones are left out.
	maxGUID  = 1 << 10 // bytes
	maxLink  = 2 << 10 // bytes
)

var errNoFeed = errors.New("not a feed in RSS")

// ParseFeed reads a feed. A truncated feed is an error, because the missing items would be taken
// for items that the project withdrew.
func ParseFeed(b []byte) ([]NewsItem, error) {
	s := bxml.NewScanner(asUTF8(b)).Foreign()
	if err := s.Find("rss"); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoFeed, err)
	}
	var items []NewsItem
	s.Fields(func(x bxml.Codec) {
		x.Element("channel", func(x bxml.Codec) { eachFrom(x, "item", &items, maxItems, NewsItem{}) })
	})
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("feed: %w", err)
	}
	return items, nil
}

func (v *NewsItem) fields(x bxml.Codec) {
	x.Line("title", &v.Title, maxLink)
	x.Line("link", &v.Link, maxLink)
	x.Line("guid", &v.GUID, maxGUID)
	x.Text("description", &v.Description)
	if s := x.Reading("pubDate"); s != nil {
		v.Date, _ = mail.ParseDate(s.Line(maxText)) // zero if it cannot be read
	}
}

// asUTF8 treats a text that is not UTF-8 as Latin-1, which old sites use.
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
