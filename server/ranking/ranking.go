// Package ranking ranks by credit: accounts, computers and teams, in all and lately.
// It reads whole tables, a part at a time, so that it holds nothing up.
package ranking

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/cache"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/store"
)

// Top is the number of entries in each list.
const Top = 100

// An Entry is one with credit.
type Entry struct {
	ID      int64
	Name    string
	Total   float64
	Recent  float64 // the recent average, a day, as it has decayed by now
	Members int     // of a team
	UserID  int64   // owner of the computer (0: hidden)
}

// A Table is the first of each kind.
type Table struct {
	At                 time.Time
	Users, RecentUsers []Entry
	Hosts, RecentHosts []Entry
	Teams, RecentTeams []Entry
	Earning            int     // accounts with credit
	Computers, Crews   int     // of each, those with credit
	Speed              float64 // operations a second that correspond to the recent credit
}

// flopsOf is the speed that corresponds to a credit a day: 1/200 of a day of a computer of 1
// GFLOPS.
//
// Source: BOINC's definition of the cobblestone.
const flopsOf = 1e9 / 200

// Take works the standings out as of now.
func Take(ctx context.Context, s *store.Store, now time.Time) (t Table, err error) {
	t.At = now
	teams := make(map[int64]*Entry)
	hiding := make(map[int64]bool)
	var users, hosts, crews best
	for u, err := range s.Users(ctx) {
		if err != nil {
			return t, err
		}
		e := Entry{ID: u.ID, Name: u.Name, Total: u.TotalCredit, Recent: credit.Decayed(u.ExpavgCredit, u.ExpavgTime, now), UserID: u.ID}
		if u.HideHosts {
			hiding[u.ID] = true
		}
		if u.TeamID != 0 {
			if teams[u.TeamID] == nil {
				teams[u.TeamID] = new(Entry)
			}
			teams[u.TeamID].Recent += e.Recent
			teams[u.TeamID].Members++
		}
		if u.DeletedTime.IsZero() && e.Total > 0 {
			t.Earning++
			t.Speed += e.Recent * flopsOf
			users.add(e)
		}
	}
	for h, err := range s.Hosts(ctx) {
		if err != nil {
			return t, err
		}
		if h.TotalCredit <= 0 {
			continue
		}
		t.Computers++
		if h.Hidden {
			continue
		}
		e := Entry{ID: h.ID, Name: h.Model, Total: h.TotalCredit, Recent: credit.Decayed(h.ExpavgCredit, h.ExpavgTime, now)}
		if !hiding[h.UserID] {
			e.UserID = h.UserID
		}
		hosts.add(e)
	}
	for x, err := range s.Teams(ctx) {
		if err != nil {
			return t, err
		}
		e := Entry{ID: x.ID, Name: x.Name, Total: x.TotalCredit}
		if of := teams[x.ID]; of != nil {
			e.Recent, e.Members = of.Recent, of.Members
		}
		if e.Total > 0 {
			t.Crews++
		}
		crews.add(e)
	}
	t.Users, t.RecentUsers = users.lists()
	t.Hosts, t.RecentHosts = hosts.lists()
	t.Teams, t.RecentTeams = crews.lists()
	return t, nil
}

// best keeps the first entries, by each of two measures.
type best struct{ total, recent []Entry }

func (b *best) add(e Entry) {
	b.total = append(b.total, e)
	b.recent = append(b.recent, e)
	if len(b.total) >= 4*Top {
		b.lists()
	}
}

// lists sorts the added entries and drops all but the first.
func (b *best) lists() (total, recent []Entry) {
	b.total = first(b.total, func(e Entry) float64 { return e.Total })
	b.recent = first(b.recent, func(e Entry) float64 { return e.Recent })
	return b.total, b.recent
}

func first(list []Entry, by func(Entry) float64) []Entry {
	slices.SortStableFunc(list, func(a, b Entry) int { return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), Top)]
}

// Fresh is the maximum age of standings that are shown.
const Fresh = time.Minute

// A Cache keeps the last standings of a database.
type Cache = cache.Value[Table]

// Kept returns the standings of a database, which are worked out when they are asked for.
func Kept(s *store.Store) *Cache {
	return &Cache{Rest: 100, Find: func(ctx context.Context) (Table, error) { return Take(ctx, s, time.Now()) }}
}
