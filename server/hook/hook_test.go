package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/hook"
)

// The test's own program is the hook that is run.
func TestMain(m *testing.M) {
	switch os.Getenv("HOOK") {
	case "echo":
		in, _ := io.ReadAll(os.Stdin)
		fmt.Printf(`{"text": %s}`, in)
	case "say":
		fmt.Print(os.Getenv("HOOK_SAYS"))
	case "fail":
		fmt.Fprintln(os.Stderr, "no disk\nleft")
		os.Exit(3)
	case "lines":
		lines()
	case "hang":
		select {}
	case "flood":
		for range 2 << 10 {
			fmt.Print(strings.Repeat(" ", 1<<10))
		}
	default:
		os.Exit(m.Run())
	}
	os.Exit(0)
}

func self(t *testing.T) hook.Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return hook.Command{Args: []string{exe}, Dir: t.TempDir()}
}

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name, mode, says string
		want             string // "" no error
	}{
		{"an answer", "echo", "", ""},
		{"a failure is quoted", "fail", "", "exit status 3 (stderr: no disk left)"},
		{"no answer", "say", "", "its answer: EOF"},
		{"an answer that is none", "say", "yes", "its answer: invalid character"},
		{"a message before the answer", "say", "checking wu_7\n{}", `it printed "checking wu_7", but its output must be one JSON object`},
		{"a key that is not known", "say", `{"txet": "x"}`, `unknown field "txet"`},
		{"two answers", "say", `{} {}`, "followed by more data"},
		{"too long an answer", "flood", "", "more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("HOOK", tt.mode)
			t.Setenv("HOOK_SAYS", tt.says)
			var out struct{ Text json.RawMessage }
			err := self(t).Run(t.Context(), map[string]int{"n": 1}, &out)
			if tt.want == "" {
				if err != nil || string(out.Text) != `{"n":1}` {
					t.Errorf("got %s, %v", out.Text, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestAProgramThatHangsIsKilled(t *testing.T) {
	t.Setenv("HOOK", "hang")
	c := self(t)
	c.Timeout = time.Millisecond
	if err := c.Run(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "it ran for more than 1ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := self(t).Run(ctx, nil, nil); err == nil {
		t.Error("it ran after the end")
	}
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "check.bat"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := "plain"
	if runtime.GOOS != "windows" {
		plain = "it cannot be executed: chmod +x " + filepath.Join(dir, plain)
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := hook.Parse(`./check.bat -v "a b"`, dir)
	if err != nil || len(c.Args) != 3 || c.Args[0] != filepath.Join(dir, "check.bat") || c.Args[2] != "a b" || c.Dir != dir {
		t.Errorf("got %+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"":                    "does not name a program",
		"'x":                  "a quote is not closed",
		"./nowhere":           "nowhere",
		"no-such-program-125": "no-such-program-125 is not in PATH; a program in the project's directory is ./no-such-program-125",
		"./plain":             plain,
	} {
		if _, err := hook.Parse(text, dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`--name a --cmdline "-x 1 'y'"`, `["--name" "a" "--cmdline" "-x 1 'y'"]`},
		{`a\ b  '' c"d"e`, `["a b" "" "cde"]`},
		{`'C:\x' "a\"b"`, `["C:\\x" "a\"b"]`},
		{``, `[]`},
	} {
		got, err := hook.Split(tt.line)
		if err != nil || fmt.Sprintf("%q", got) != tt.want {
			t.Errorf("%s: got %q, %v; want %s", tt.line, got, err, tt.want)
		}
	}
	if _, err := hook.Split(`a "b`); err == nil {
		t.Error("an open quote was taken")
	}
}
