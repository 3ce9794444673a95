package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/testdocs"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// A story is a reader who types the commands of documents, block by block, with the addresses, ports
// and names of files in the test. A command that serves a project runs in another terminal.
type story struct {
	t      *testing.T
	ctx    context.Context
	dir    string           // the folder in which commands are typed
	env    []string         // variables of the shell
	here   []string         // names in documents, each followed by the name in this test
	blocks []testdocs.Block // not followed yet
	shown  []testdocs.Block // settings and output in the documents
	stop   []func()         // stop servers, in the order of their start
	used   strings.Builder  // commands and files, with the names in documents
}

// newStory reads the blocks that the table assigns to this test. At the end of the test, all their
// commands must have been typed, except those in the table untyped.
func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, ctx: patience(t), dir: t.TempDir()}
	all, err := testdocs.Blocks("..")
	must(t, err)
	for _, b := range all {
		if !b.IsRun() {
			s.shown = append(s.shown, b)
		} else if _, test := testOf(b); test == t.Name() {
			s.blocks = append(s.blocks, b)
		}
	}
	platform, _ := hostinfo.Platform()
	s.here = []string{"x86_64-pc-linux-gnu", platform}
	s.env = append(os.Environ(), "PATH="+string(bin)+":"+os.Getenv("PATH"), "COLUMNS=200")
	mine := slices.Clone(s.blocks)
	t.Cleanup(func() {
		for _, b := range mine {
			for _, command := range b.Commands() {
				if !t.Failed() && !strings.Contains(s.used.String(), command) && !isUntyped(command) {
					t.Errorf("%s:%d: %q is not typed", b.Document, b.Line, command)
				}
			}
		}
	})
	return s
}

// isUntyped reports whether a command is in the table untyped.
func isUntyped(command string) bool {
	for start := range untyped {
		if strings.HasPrefix(command, start) {
			return true
		}
	}
	return false
}

// call replaces a name in the blocks that follow.
func (s *story) call(name, here string) { s.here = append(s.here, name, here) }

// follow types the next block of a document, which must start with a command. It returns all that
// the commands print. If the block shows output, the real output must have the same form.
func (s *story) follow(document, start string) string {
	s.t.Helper()
	b := s.take(document, start)
	out := s.typed(strings.Join(b.Commands(), "\n"))
	s.resembles(out, b.Output())
	return out
}

// take returns the next block of a document, which must start with a command, for a test that types
// its commands in another order.
func (s *story) take(document, start string) testdocs.Block {
	s.t.Helper()
	for _, b := range s.blocks {
		if b.Document == inDocs(document) && !strings.HasPrefix(b.Commands()[0], start) {
			s.t.Fatalf("%s:%d continues with %q, not %q", b.Document, b.Line, b.Commands()[0], start)
		} else if b.Document == inDocs(document) {
			break
		}
	}
	return s.pick(document, start)
}

// pick is take for a document whose chapters need not be read in their order.
func (s *story) pick(document, start string) testdocs.Block {
	s.t.Helper()
	for i, b := range s.blocks {
		if b.Document == inDocs(document) && strings.HasPrefix(b.Commands()[0], start) {
			s.blocks = slices.Delete(s.blocks, i, i+1)
			return b
		}
	}
	s.t.Fatalf("%s has no more blocks that start with %q", document, start)
	return testdocs.Block{}
}

// inDocs returns the path of a document, which is in docs/ unless a folder is named.
func inDocs(document string) string {
	if strings.Contains(document, "/") {
		return document
	}
	return "docs/" + document
}

// typed runs commands, which must succeed, and returns their output.
func (s *story) typed(commands string) string {
	s.t.Helper()
	out, err := s.try(commands)
	if err != nil {
		s.t.Fatalf("%s\n%v: %s", commands, err, out)
	}
	return out
}

// try runs commands. Those that serve a project keep running.
func (s *story) try(commands string) (out string, err error) {
	s.t.Helper()
	s.used.WriteString(commands + "\n")
	commands = strings.NewReplacer(s.here...).Replace(commands)
	s.t.Log("$ " + commands)
	lines := slices.Collect(strings.Lines(commands))
	for start := 0; start < len(lines) && err == nil; {
		end := start
		for end < len(lines) && !serves(lines[end]) {
			end++
		}
		if end == start {
			out += s.serve(lines[start])
			start++
			continue
		}
		cmd := exec.CommandContext(s.ctx, "bash", "-euo", "pipefail", "-c", strings.Join(lines[start:end], ""))
		cmd.Dir, cmd.Env = s.dir, s.env
		var printed []byte
		printed, err = cmd.CombinedOutput()
		out, start = out+string(printed), end
	}
	return out, err
}

// serves reports whether a command runs until it is stopped.
func serves(command string) bool {
	return strings.HasPrefix(command, "starling-server serve ") || strings.HasPrefix(command, "starling-server dev ")
}

// ready matches the line that a server prints when it listens.
var ready = regexp.MustCompile(`(?m)msg\W{1,3}serving|^{"url":.*`)

// serve runs a server until the end of the test. It returns the server's output once it listens.
func (s *story) serve(command string) string {
	s.t.Helper()
	log := filepath.Join(s.t.TempDir(), "serve.log")
	p, err := testhost.StartWith(s.env, log, "bash", "-c", "cd "+s.dir+" && exec "+command)
	if err != nil {
		s.t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := p.Stop(testhost.Grace); err != nil {
			s.t.Errorf("%s: %v", command, err)
		}
		showLog(s.t, log)
	})
	s.stop = append(s.stop, stop)
	s.t.Cleanup(stop)
	printed := ""
	testwait.Try(s.t, s.ctx, command, func() error {
		select {
		case <-p.Done():
			showLog(s.t, log)
			s.t.Fatalf("%s ended", command)
		default:
		}
		text, err := os.ReadFile(log)
		if printed = string(text); err == nil && !ready.MatchString(printed) {
			return fmt.Errorf("it has printed %q", text)
		}
		return err
	})
	return printed
}

// halt stops all servers.
func (s *story) halt() {
	for _, stop := range s.stop {
		stop()
	}
	s.stop = nil
}

// write makes a file of the reader. Names in it are replaced like those in commands.
func (s *story) write(name, text string) {
	s.t.Helper()
	s.used.WriteString(text)
	name = filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(strings.NewReplacer(s.here...).Replace(text)), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// prints requires that the output of a command contains some texts.
func (s *story) prints(out string, texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			s.t.Errorf("no %q in what the command prints:\n%s", text, out)
		}
	}
}

var number = regexp.MustCompile(`[0-9]+`)

// resembles requires that a command prints the lines of an example, with any numbers and with anything
// in place of "…".
func (s *story) resembles(out, example string) {
	s.t.Helper()
	form := func(text string) string { return number.ReplaceAllString(text, "0") }
	for line := range strings.Lines(strings.NewReplacer(s.here...).Replace(example)) {
		for piece := range strings.SplitSeq(strings.TrimSpace(line), "…") {
			s.prints(form(out), form(strings.TrimRight(piece, ", }")))
		}
	}
}

// headed requires that a command prints a table with the headings of an example.
func (s *story) headed(out, example string) {
	s.t.Helper()
	first, _, _ := strings.Cut(example, "\n")
	headings := strings.Fields(first)
	for line := range strings.Lines(out) {
		if slices.Equal(strings.Fields(line), headings) {
			return
		}
	}
	s.t.Errorf("no line with the headings %q in %s", headings, out)
}

// example returns the block of settings or output in a document that starts with a text.
func (s *story) example(document, start string) string {
	s.t.Helper()
	for _, b := range s.shown {
		if b.Document == inDocs(document) && strings.HasPrefix(b.Text, start) {
			return b.Text
		}
	}
	s.t.Fatalf("%s has no block that starts with %q", document, start)
	return ""
}

// join starts an agent and attaches it to the project of the story.
func (s *story) join(name, url, key string) *testhost.Agent {
	s.t.Helper()
	a := newAgent(s.t, name)
	startAgent(s.t, s.ctx, a, &testhost.Project{URL: url, Key: key})
	return a
}
