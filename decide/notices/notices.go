// Package notices decides which announcements of projects a volunteer sees: the items of their
// feeds, and messages of their schedulers that need attention. It is policy: values in, values out.
//
//	notices.go  which notices are kept
//	feed.go     which feeds are read, and when
//
// Source: BOINC client/cs_notice.cpp. Unlike there, an item is known by its guid, so that
// one of which a word is changed replaces the one before.
package notices

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Bounds on notices.
const (
	Kept = 30 * 24 * time.Hour // since one was written, or since it came if that is not known
	Most = 50                  // of one project: the newest

	MaxTitle = 300      // bytes
	MaxHTML  = 16 << 10 // bytes

	maxName = 200 // bytes of an item without guid and link that identify it

	again = 7 * 24 * time.Hour // a repeated message of a scheduler is not news before
	ahead = 24 * time.Hour     // a date that is later than this from now is wrong
)

// A Notice is one announcement of a project.
type Notice struct {
	Seqno   int    // identifies the notice, and increases with each new one over all projects
	Project string // master URL
	Feed    string // URL of the feed ("": a message of the project's scheduler)
	GUID    string // names the item within its project
	Title   string // "": none
	HTML    string // from a feed, or plain text from a scheduler
	Link    string // to further information, http or https ("" if none)
	Created time.Time
	Dated   bool      // Created is from the feed (otherwise it is Arrived)
	Arrived time.Time // here
}

// An Item is an item of a feed, made safe to be shown and of bounded size.
type Item struct {
	GUID  string // "": none
	Title string
	HTML  string
	Link  string
	Date  time.Time // zero: not known
}

// Read returns the notices of a project after one of its feeds was read. Items that the feed no
// longer has are withdrawn. New ones get numbers from next on, the oldest first.
func Read(kept []Notice, project, feed string, items []Item, next int, now time.Time) []Notice {
	byGUID := make(map[string]Notice)
	var after []Notice
	for _, n := range kept {
		if n.Feed == "" || n.Feed != feed {
			after = append(after, n)
		}
		if n.Feed != "" {
			byGUID[n.GUID] = n
		}
	}
	var fresh []Notice
	seen := make(map[string]bool)
	for _, item := range items {
		n := noticeOf(item, project, feed, now)
		old, known := byGUID[n.GUID]
		switch {
		case seen[n.GUID], known && old.Feed != feed, n.Old(now):
			continue
		case known && old.Title == n.Title && old.HTML == n.HTML:
			n.Seqno, n.Arrived = old.Seqno, old.Arrived
			if !n.Dated {
				n.Created = old.Created
			}
			after = append(after, n)
		default:
			fresh = append(fresh, n)
		}
		seen[n.GUID] = true
	}
	slices.SortStableFunc(fresh, func(a, b Notice) int { return a.Created.Compare(b.Created) })
	for i := range fresh {
		fresh[i].Seqno = next + i
	}
	return newest(append(after, fresh...))
}

func noticeOf(item Item, project, feed string, now time.Time) Notice {
	n := Notice{
		Project: project, Feed: feed, GUID: item.GUID, Title: item.Title, HTML: item.HTML, Link: item.Link,
		Created: now, Arrived: now,
	}
	if n.GUID == "" {
		n.GUID = cmp.Or(item.Link, strings.ToValidUTF8(item.Title+"\n"+item.HTML[:min(len(item.HTML), maxName)], ""))
	}
	if !item.Date.IsZero() && item.Date.Before(now.Add(ahead)) {
		n.Created, n.Dated = item.Date, true
	}
	return n
}

// Said returns the notices of a project after its scheduler replied with messages that need
// attention. Notices of earlier replies stay until a request for work brings none. A message that
// only differs in numbers, such as the missing disk space, is new only after a week.
func Said(kept []Notice, project string, messages []string, forWork bool, next int, now time.Time) []Notice {
	after := slices.Clone(kept)
	if len(messages) == 0 {
		if forWork {
			after = slices.DeleteFunc(after, func(n Notice) bool { return n.Feed == "" })
		}
		return after
	}
	for _, text := range messages {
		i := slices.IndexFunc(after, func(n Notice) bool { return n.Feed == "" && alike(n.HTML, text) })
		if i >= 0 && now.Sub(after[i].Created) < again {
			continue
		}
		if i >= 0 {
			after = slices.Delete(after, i, i+1)
		}
		after = append(after, Notice{Seqno: next, Project: project, GUID: text, HTML: text, Created: now, Arrived: now})
		next++
	}
	return newest(after)
}

// alike reports whether two texts are the same except for digits.
func alike(a, b string) bool { return withoutDigits(a) == withoutDigits(b) }

func withoutDigits(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, s)
}

// Old reports whether a notice is no longer shown. An item without a date is shown as long as its
// feed has it.
func (n Notice) Old(now time.Time) bool {
	return (n.Dated || n.Feed == "") && now.Sub(n.Created) >= Kept
}

// Expire returns the notices that are still to be shown: messages, and those from the feeds that
// the project still has.
func Expire(kept []Notice, feeds []Feed, now time.Time) (after []Notice) {
	for _, n := range kept {
		switch {
		case n.Feed != "" && !slices.ContainsFunc(feeds, func(f Feed) bool { return f.URL == n.Feed }):
		case n.Old(now):
		default:
			after = append(after, n)
		}
	}
	return after
}

// newest limits the number of notices of a project. Their order stays.
func newest(all []Notice) []Notice {
	if len(all) <= Most {
		return all
	}
	order := slices.Clone(all)
	Sort(order)
	stay := make(map[int]bool, Most)
	for _, n := range order[:Most] {
		stay[n.Seqno] = true
	}
	return slices.DeleteFunc(all, func(n Notice) bool { return !stay[n.Seqno] })
}

// Sort puts the newest first.
func Sort(all []Notice) {
	slices.SortFunc(all, func(a, b Notice) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(b.Seqno, a.Seqno))
	})
}
