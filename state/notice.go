package state

import (
	"fmt"
	"time"
)

// A Feed is a project's news feed: see notices.Feed.
type Feed struct {
	URL      string        `json:"url,omitzero"`
	Poll     time.Duration `json:"poll,omitzero"`
	Next     time.Time     `json:"next,omitzero"`
	Failures int           `json:"failures,omitzero"`
}

// A GUIURL is a link, http or https, to a page of a project.
type GUIURL struct {
	Name        string `json:"name,omitzero"`
	Description string `json:"description,omitzero"`
	URL         string `json:"url,omitzero"`
}

// A Notice is one announcement of a project: see notices.Notice.
type Notice struct {
	Seqno   int       `json:"seqno,omitzero"`
	Project string    `json:"project,omitzero"`
	Feed    string    `json:"feed,omitzero"`
	GUID    string    `json:"guid,omitzero"`
	Title   string    `json:"title,omitzero"`
	HTML    string    `json:"html,omitzero"`
	Link    string    `json:"link,omitzero"`
	Created time.Time `json:"created,omitzero"`
	Dated   bool      `json:"dated,omitzero"`
	Arrived time.Time `json:"arrived,omitzero"`
}

// Key returns the notice's key.
func (n Notice) Key() string { return Key(n.Project, fmt.Sprintf("%010d", n.Seqno)) }

// NextNotice returns the number of the next notice.
func (db *DB) NextNotice() int {
	last := 0
	for _, n := range db.Notices.All() {
		last = max(last, n.Seqno)
	}
	return last + 1
}
