// Package notify shows a desktop notification when something needs the computer's owner. It runs in
// the helper of a desktop session (starling session), with the rights of the session's user.
//
// It decides nothing: the agent marks the problems that are worth a notification, and its control
// socket admits those who may see them.
package notify

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/words"
)

// The times until the first look at the agent, and between looks at one that answers.
const (
	first = 10 * time.Second
	every = 15 * time.Minute
)

// The time between two notifications of the same cause doubles from shortest to longest.
const (
	shortest = 24 * time.Hour
	longest  = 32 * 24 * time.Hour
)

// The limits on remembered notifications.
const (
	maxShown = 256
	maxKey   = 500     // bytes
	maxFile  = 1 << 20 // bytes, in which as many keys fit, also escaped
)

// maxText is the maximum length of a notification's text, in bytes.
const maxText = 600

// A Notifier shows notifications.
type Notifier struct {
	// Ask returns the agent's problems. It fails if the agent is not running or does not admit this
	// user, and then no notification is shown.
	Ask func(context.Context) ([]control.Problem, error)
	// Show shows a notification. The text is plain.
	Show func(title, text string) error
	// File stores the memory of notifications beyond the end of the session. With "", nothing is shown.
	File string
}

// Run looks at the agent now and then, until ctx ends.
func (n *Notifier) Run(ctx context.Context) {
	Poll(ctx, first, every, func() bool { return n.look(ctx, time.Now()) })
}

// shown is the memory of a cause: the last notification, and the number of all.
type shown struct {
	At    time.Time `json:"at"`
	Count int       `json:"count"`
}

// rest returns how long a cause is silent.
func (s shown) rest() time.Duration {
	return min(longest, shortest<<min(max(s.Count-1, 0), 5))
}

// silent reports whether a cause must not be shown again. A clock that was set back does not silence
// it for longer.
func (s shown) silent(now time.Time) bool {
	age := now.Sub(s.At)
	return age >= 0 && age < s.rest()
}

// look shows one notification of all problems that are due. It returns false if the agent does not
// answer.
func (n *Notifier) look(ctx context.Context, now time.Time) (answered bool) {
	if n.File == "" {
		return true
	}
	l := words.LanguageOf(ctx)
	all, err := n.Ask(ctx)
	if err != nil {
		return false
	}
	seen, next := n.read(), make(map[string]shown)
	var due []control.Problem
	for _, p := range all {
		if !p.Notify || len(next) == maxShown {
			continue
		}
		key := strings.ToValidUTF8(p.Key[:min(len(p.Key), maxKey)], "")
		s := seen[key]
		if !s.silent(now) {
			due = append(due, p)
			s = shown{now.Round(0), s.Count + 1}
		}
		next[key] = s
	}
	if len(due) == 0 {
		return true
	}
	for key, s := range seen { // a cause that is over may return
		if _, lasts := next[key]; !lasts && now.Sub(s.At) < 2*longest && len(next) < maxShown {
			next[key] = s
		}
	}
	// It is remembered first. If that fails, nothing is shown, rather than the same at each look.
	if n.write(next) == nil && n.Show(words.T("Starling needs your attention").In(l), text(due).In(l)) != nil {
		_ = n.write(seen)
	}
	return true
}

// text describes the first of some problems, with its remedy, and mentions the others.
func text(due []control.Problem) words.Text {
	p := due[0]
	about, room := p.Text, max(0, maxText-len(p.Cure))
	if len(about) > room {
		about = strings.ToValidUTF8(about[:room], "") + "…"
	}
	all := []words.Text{words.Plain(about)}
	if p.Cure != "" {
		all = append(all, words.T("You can: {cure}", "cure", p.Cure))
	}
	if more := len(due) - 1; more > 0 {
		all = append(all, words.T("And {n} more; to see all: starling dashboard", "n", more))
	}
	return words.And(all...)
}

// read returns the memory of notifications. It is empty without a usable file.
func (n *Notifier) read() map[string]shown {
	seen := make(map[string]shown)
	b, err := foreigndir.ReadFile(n.File, maxFile)
	if err != nil || json.Unmarshal(b, &seen) != nil || seen == nil {
		return make(map[string]shown)
	}
	return seen
}

func (n *Notifier) write(seen map[string]shown) error {
	b, err := json.Marshal(seen)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(n.File), 0o700)
	}
	if err == nil {
		err = atomicfile.Write(n.File, b, 0o600)
	}
	return err
}
