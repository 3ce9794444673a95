package dashboard

import (
	"crypto/rand"
	"sync"
	"time"
)

// A ticket opens the dashboard once, for people that may control the agent but not read its files.
// After that the browser has the token.
const (
	ticketLasts = 10 * time.Minute
	maxTickets  = 100 // older ones are void
)

type tickets struct {
	mu   sync.Mutex
	open []ticket // the oldest first
}

type ticket struct {
	text string
	ends time.Time
}

func (t *tickets) issue(now time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := rand.Text()
	t.open = append(t.open, ticket{text, now.Add(ticketLasts)})
	t.open = t.open[max(0, len(t.open)-maxTickets):]
	return text
}

// take reports whether a ticket is good, and voids it.
func (t *tickets) take(text string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, k := range t.open {
		if k.text == text && now.Before(k.ends) {
			t.open = append(t.open[:i:i], t.open[i+1:]...)
			return true
		}
	}
	return false
}

// Ticket returns an address that opens the dashboard once, within ten minutes. It may be
// called concurrently.
func (s *Server) Ticket() string {
	return "http://127.0.0.1:" + s.Port + "/login?ticket=" + s.tickets.issue(time.Now())
}
