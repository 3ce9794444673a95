package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// A screen shows notifications, and has an agent whose problems a test sets.
type screen struct {
	problems []control.Problem
	err      error // of the agent
	broken   error // of the desktop
	shown    []string
}

func (s *screen) notifier(file string) *Notifier {
	return &Notifier{
		File: file,
		Ask:  func(context.Context) ([]control.Problem, error) { return s.problems, s.err },
		Show: func(_, text string) error {
			if s.broken == nil {
				s.shown = append(s.shown, text)
			}
			return s.broken
		},
	}
}

// was returns the notifications since the last call.
func (s *screen) was() string {
	all := strings.Join(s.shown, "|")
	s.shown = nil
	return all
}

func problem(key string) control.Problem {
	return control.Problem{Key: key, Text: "About " + key + ".", Notify: true}
}

func TestNotifications(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "notified.json")
	s := &screen{}
	now := time.Now()
	look := func(after time.Duration, want string) {
		t.Helper()
		now = now.Add(after)
		s.notifier(file).look(t.Context(), now) // a new one each time: the memory is in the file
		if got := s.was(); got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
	}
	look(0, "")
	s.problems = []control.Problem{{Key: "quiet", Text: "Quiet."}, problem("a")}
	s.problems[1].Cure = "do something."
	look(every, "About a. You can: do something.")
	look(every, "")
	s.problems = append(s.problems, problem("b"), problem("c"))
	look(every, "About b. And 1 more; to see all: starling dashboard")
	look(23*time.Hour, "")
	// Each cause is shown again after a day, then after two, and so on up to 32.
	look(time.Hour, "About a. You can: do something. And 2 more; to see all: starling dashboard")
	s.problems = s.problems[1:2]
	times := 0
	for range 200 * 24 {
		now = now.Add(time.Hour)
		s.notifier(file).look(t.Context(), now)
		if s.was() != "" {
			times++
		}
	}
	if times != 9 { // after 2, 6, 14, 30, 62, 94, 126, 158 and 190 days
		t.Errorf("it was shown %d times in 200 days", times)
	}
	s.err = errors.New("permission denied")
	s.problems = []control.Problem{problem("d")}
	look(every, "")
	s.err, s.broken = nil, errors.New("no desktop")
	look(every, "")
	s.broken = nil
	look(every, "About d.")
	look(-30*24*time.Hour, "About d.") // the clock was set back
	s.problems = []control.Problem{{Key: "long", Text: strings.Repeat("ö", 2*maxText), Notify: true}}
	look(every, strings.Repeat("ö", maxText/2)+"…")
	s.problems = []control.Problem{{Key: "long, with a cure", Text: strings.Repeat("x", 2*maxText), Cure: "wait.", Notify: true}}
	look(every, strings.Repeat("x", maxText-len("wait."))+"… You can: wait.")
}

// A memory that cannot be kept leads to no notifications, rather than to many. A damaged one is
// replaced, and many causes do not let it grow.
func TestTheMemory(t *testing.T) {
	s := &screen{problems: []control.Problem{problem("a")}}
	s.notifier("").look(t.Context(), time.Now())
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, []byte("\x00{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.notifier(filepath.Join(blocked, "notified.json")).look(t.Context(), time.Now())
	if got := s.was(); got != "" {
		t.Errorf("shown %q without a memory", got)
	}
	for _, damaged := range []string{"\x00{", "null", `{"a":7}`} {
		if err := os.WriteFile(blocked, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		s.notifier(blocked).look(t.Context(), time.Now())
		if got := s.was(); got != "About a." {
			t.Errorf("%q: shown %q", damaged, got)
		}
	}
	now := time.Now()
	for range 3 {
		now = now.Add(time.Hour)
		s.problems = nil
		for range maxShown {
			s.problems = append(s.problems, problem(strings.Repeat("x", len(s.problems)+1)+now.String()))
		}
		s.notifier(blocked).look(t.Context(), now)
	}
	if n := len(s.notifier(blocked).read()); n != maxShown {
		t.Errorf("%d causes are remembered", n)
	}
	s.was()
	for i := range s.problems { // more than the file holds
		s.problems[i].Key = fmt.Sprint(i, strings.Repeat("<", 5000))
	}
	for range 3 {
		now = now.Add(every)
		s.notifier(blocked).look(t.Context(), now)
	}
	if len(s.shown) != 1 {
		t.Errorf("long causes are shown %d times, want once", len(s.shown))
	}
}

// The agent is seldom asked.
func TestItIsQuiet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notified.json")
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		n := &Notifier{File: file, Ask: func(context.Context) ([]control.Problem, error) { asked++; return nil, nil }}
		ctx, cancel := context.WithCancel(t.Context())
		go n.Run(ctx)
		time.Sleep(24 * time.Hour)
		cancel()
		synctest.Wait()
		if asked != 96 {
			t.Errorf("asked %d times in a day", asked)
		}
	})
}

// At login, the agent may start after the helper. Its problems are shown soon after its start, and
// an agent that never starts is seldom asked.
func TestAnAgentThatStartsLater(t *testing.T) {
	for delay, most := range map[time.Duration]time.Duration{
		0: first, first + time.Second: first, time.Minute: 2 * time.Minute, 10 * time.Minute: 20 * time.Minute,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &screen{problems: []control.Problem{problem("a")}}
			n, asked, start := s.notifier(filepath.Join(t.TempDir(), "notified.json")), 0, time.Now()
			n.Ask = func(context.Context) ([]control.Problem, error) {
				if asked++; time.Since(start) < delay {
					return nil, control.ErrNotRunning
				}
				return s.problems, nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			go n.Run(ctx)
			time.Sleep(delay + most)
			synctest.Wait()
			if got := s.was(); got != "About a." {
				t.Errorf("%v after the start of an agent that started after %v: shown %q", most, delay, got)
			}
			if asked > 12 {
				t.Errorf("asked %d times in %v", asked, delay+most)
			}
			cancel()
			synctest.Wait()
		})
	}
}
