package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// project finds the project that a person means by word: its address, its name, or the beginning of
// one of them that is unique. An address that is not attached is returned as it is, and the agent
// refuses it.
func (o *options) project(ctx context.Context, word string) (masterURL string, err error) {
	s, errStatus := o.status(ctx)
	u, err := protocol.CanonicalMasterURL(word)
	if err == nil && (strings.Contains(word, "/") || errStatus != nil) {
		return u, nil
	}
	if errStatus != nil {
		return "", errStatus
	}
	p, err := pick(s.Projects, word)
	return p.MasterURL, err
}

// pick finds the project that a word means.
func pick(all []control.Project, word string) (p control.Project, err error) {
	var found []control.Project
	for _, is := range []func(p control.Project) bool{
		func(p control.Project) bool {
			return word != "" && strings.EqualFold(p.Name, word) || p.MasterURL == word
		},
		func(p control.Project) bool { return begins(p.Name, word) || begins(bare(p.MasterURL), bare(word)) },
		func(p control.Project) bool {
			return word != "" && strings.Contains(strings.ToLower(p.Name), strings.ToLower(word))
		},
	} {
		for _, p := range all {
			if is(p) {
				found = append(found, p)
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return p, words.Refuse(words.T("{word} may mean {names}; type more of its name", "word", strconv.Quote(word), "names", either(names(found))))
		}
	}
	if len(all) == 0 {
		return p, words.Refuse(words.T("no project is called {word}: no projects are attached", "word", strconv.Quote(word)))
	}
	return p, words.Refuse(words.T("no project is called {word}; the projects are {names}", "word", strconv.Quote(word), "names", strings.Join(names(all), ", ")))
}

func begins(s, with string) bool {
	return with != "" && strings.HasPrefix(strings.ToLower(s), strings.ToLower(with))
}

// bare returns an address without its scheme and www.
func bare(u string) string {
	if _, after, ok := strings.Cut(u, "://"); ok {
		u = after
	}
	return strings.TrimPrefix(u, "www.")
}

func names(projects []control.Project) (all []string) {
	for _, p := range projects {
		all = append(all, name(p))
	}
	slices.Sort(all)
	return all
}

// either returns names with "or" between them.
func either(names []string) words.Text {
	text := words.Plain(names[0])
	for _, name := range names[1:] {
		text = words.T("{first} or {second}", "first", text, "second", name)
	}
	return text
}

// called returns a project's title for people, and a word for it in a command: its name if that is
// unique and harmless.
func (o *options) called(ctx context.Context, masterURL string) (title, word string) {
	s, err := o.status(ctx)
	if err != nil {
		return masterURL, masterURL
	}
	for _, p := range s.Projects {
		if p.MasterURL != masterURL || p.Name == "" {
			continue
		}
		title = printable(p.Name)
		if q, err := pick(s.Projects, p.Name); err == nil && q.MasterURL == masterURL && title == p.Name {
			return title, words.Shell(p.Name)
		}
		return title, masterURL
	}
	return masterURL, masterURL
}
