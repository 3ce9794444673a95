package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

const (
	every     = time.Second      // the interval of changes sent to the page
	stillHere = 15 * time.Second // between signs of life when nothing does
	sendTime  = 10 * time.Second // for one event
	maxPages  = 32               // open at once
)

// looks shares looks at the agent among all open pages, one for each language.
type looks struct {
	mu    sync.Mutex
	pages int
	last  map[words.Language]snapshot
}

// A snapshot is the page's data as of one instant, or an error.
type snapshot struct {
	at    time.Time
	shown document
	err   error
}

// open counts a page, unless there are too many.
func (l *looks) open() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pages >= maxPages {
		return false
	}
	l.pages++
	return true
}

// close counts a page that has gone. After the last one nothing is kept: ten thousand
// tasks are some megabytes.
func (l *looks) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pages--; l.pages == 0 {
		l.last = nil
	}
}

// look returns the page's data. It may be as old as half of every.
func (s *Server) look(ctx context.Context) (document, error) {
	l, language := &s.looks, words.LanguageOf(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	last := l.last[language]
	if !last.at.IsZero() && time.Since(last.at) < every/2 {
		return last.shown, last.err
	}
	v, err := s.Agent.Dashboard(ctx)
	if ctx.Err() != nil {
		return document{}, ctx.Err() // one page's end does not affect the others
	}
	if err == nil {
		last.shown, err = newDocument(v, last.shown)
	}
	last.at, last.err = time.Now(), err
	if l.last == nil {
		l.last = make(map[words.Language]snapshot)
	}
	l.last[language] = last
	return last.shown, err
}

// keptMessages is the number of lines that a page gets when it opens.
const keptMessages = 2000

// messages returns the lines of the log after a number, the last ones only.
func (s *Server) messages(ctx context.Context, after int) (lines []control.Message, last int) {
	log, err := s.Agent.Log(ctx, after)
	if err != nil || len(log.Messages) == 0 {
		return nil, after
	}
	lines = log.Messages[max(0, len(log.Messages)-keptMessages):]
	return lines, lines[len(lines)-1].Seqno
}

// events sends the data and its changes to a page, as server-sent events:
//
//	view      all of it, once: a document
//	change    what is different since, whenever something is: a JSON merge patch (RFC
//	          7396) of the document, in which null takes a member away
//	messages  further lines of the log
//
// With ten thousand tasks, none of them running, a change is a few hundred bytes.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if !s.looks.open() {
		control.Refuse(w, r, http.StatusTooManyRequests, words.Refuse(words.T("this dashboard is open in {most} pages, the maximum; close some", "most", maxPages)))
		return
	}
	defer s.looks.close()
	w.Header().Set("Content-Type", "text/event-stream")
	c := http.NewResponseController(w)
	if err := c.SetReadDeadline(time.Time{}); err != nil { // the request is complete, and now the page only listens
		return
	}
	send := func(text string) bool {
		if err := c.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
			return false
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return false
		}
		return c.Flush() == nil
	}
	var shown document
	said, seen := time.Now(), 0
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		text := ""
		now, err := s.look(r.Context())
		if err != nil {
			return // the browser reconnects, and the agent perhaps works again
		}
		event, err := told(shown, now)
		if err != nil {
			s.Log.Error("cannot show the dashboard", "err", err)
			return
		}
		text += event
		shown = now
		lines, last := s.messages(r.Context(), seen)
		if len(lines) > 0 {
			b, err := json.Marshal(lines)
			if err != nil {
				return
			}
			seen = last
			text += "event: messages\ndata: " + string(b) + "\n\n"
		}
		if text == "" && time.Since(said) > stillHere {
			text = ": still here\n\n"
		}
		if text != "" {
			if !send(text) {
				return
			}
			said = time.Now()
		}
		select {
		case <-r.Context().Done():
			return
		case <-ticker.C:
		}
	}
}

// told returns the event for a page that shows one document and is to show another, or "" if they
// are the same.
func told(shown, now document) (string, error) {
	name, encode := "view", now.whole
	if shown.parts != nil {
		name, encode = "change", func() ([]byte, error) { return now.since(shown) }
	}
	b, err := encode()
	if err != nil || b == nil {
		return "", err
	}
	return "event: " + name + "\ndata: " + string(b) + "\n\n", nil
}
