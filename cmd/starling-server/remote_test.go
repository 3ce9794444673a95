package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/servertest"
)

// Files and folders become workunits on another computer, and their output is returned, whatever
// bytes it consists of. Saved output is not fetched again, and its workunits are not submitted
// again.
func TestRemote(t *testing.T) {
	p := servertest.Start(t, servertest.Setting("fetch_private", "true"))
	p.App("join", func(_ context.Context, task *servertest.Task) error {
		if bytes.Equal(task.Input("in"), []byte("bad")) {
			return errors.New("bad")
		}
		task.Output("out", append(task.Input("in"), 0xff))
		return nil
	})
	for _, name := range []string{"ada", "bob", "eve", "fay"} {
		p.Volunteer(name)
	}
	secret, hash := api.NewToken()
	opened, err := project.Open(t.Context(), p.Dir, slog.New(slog.DiscardHandler))
	must(t, err)
	defer opened.Close()
	err = opened.Store.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.InsertToken(store.Token{CreateTime: time.Now(), Name: "lab", Hash: hash})
		return err
	})
	must(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
	}
	write("a.txt", "grüße")
	write("b", "\x00\xfe")
	write("c/in", "folder")
	write("token", secret+"\n")
	remote := func(args ...string) error {
		cmd := root()
		cmd.SetArgs(append(append([]string{"remote"}, args...), "--token-file", filepath.Join(dir, "token"), "--patience", "0s"))
		return cmd.ExecuteContext(t.Context())
	}
	out := filepath.Join(dir, "out")
	submit := func() error {
		return remote("submit", p.URL, "join", filepath.Join(dir, "a.txt"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), "--name", "run-1", "--output", out)
	}
	must(t, remote("submit", p.URL, "join", filepath.Join(dir, "a.txt"), "--name", "run-1", "--dry-run"))
	must(t, remote("limits", p.URL))
	must(t, submit())
	saved := func(workunit string) (string, os.FileInfo) {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(out, workunit, "out*"))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s has the output files %v, %v", workunit, found, err)
		}
		b, err := os.ReadFile(found[0])
		must(t, err)
		st, err := os.Stat(found[0])
		must(t, err)
		return string(b), st
	}
	_, before := saved("b")
	for workunit, want := range map[string]string{"a.txt": "grüße\xff", "b": "\x00\xfe\xff", "c": "folder\xff"} {
		if got, _ := saved(workunit); got != want {
			t.Errorf("%s: got %q, want %q", workunit, got, want)
		}
	}
	must(t, submit())
	if _, after := saved("b"); !os.SameFile(before, after) {
		t.Error("a file that was there is fetched again")
	}

	data := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("far away")) }))
	t.Cleanup(data.Close)
	there := fmt.Sprintf("%s/there.txt 8 %x", data.URL, md5.Sum([]byte("far away")))
	must(t, remote("submit", p.URL, "join", data.URL+"/copied.txt", there, "--name", "far", "--output", out))
	for _, workunit := range []string{"copied.txt", "there.txt"} {
		if got, _ := saved(workunit); got != "far away\xff" {
			t.Errorf("%s: got %q", workunit, got)
		}
	}

	write("bad", "bad")
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"submit", p.URL, "join", filepath.Join(dir, "bad"), "--name", "run-2", "--wait"}, "1 workunit given up"},
		{[]string{"submit", p.URL, "nope", filepath.Join(dir, "b"), "--name", "run-3"}, `there is no application "nope": ask`},
		{[]string{"submit", p.URL, "join", filepath.Join(dir, "b"), "--name", "run-1"}, `there is another batch called "run-1"`},
		{[]string{"submit", p.URL, "join", filepath.Join(dir, "missing"), "--name", "run-4"}, "missing"},
		{[]string{"submit", p.URL, "join", "https://data.example/a 8", "--name", "run-5"}, "want URL, size in bytes and MD5"},
		{[]string{"fetch", p.URL, "99"}, "no batch 99"},
		{[]string{"estimate", p.URL, "99"}, "no batch 99"},
		{[]string{"submit", p.URL, "nope", filepath.Join(dir, "b"), "--name", "run-3", "--dry-run"}, `there is no application "nope": ask`},
		{[]string{"fetch", p.URL, "run-9"}, `"run-9" is neither the number nor the name of a batch: starling-server remote list `},
		{[]string{"limits", "calc"}, `"calc" is not a project's URL: write one such as https://`},
		{[]string{"list", "127.0.0.1:80/p/"}, "is not a project's URL"},
		{[]string{"cancel", p.URL + "elsewhere/", "1"}, "is that the project's URL? If it is, the project's server is of a version that does not have this request"},
	} {
		if err := remote(tt.args...); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.says)
		}
	}
	for _, args := range [][]string{{"list", p.URL}, {"list", p.URL, "--json"}, {"fetch", p.URL, "run-1", "--json"}, {"estimate", p.URL, "run-1"}, {"estimate", p.URL, "1", "--json"}, {"cancel", p.URL, "1"}, {"retire", p.URL, "1"}, {"retire", p.URL, "1"}} {
		if err := remote(args...); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if err := remote("fetch", p.URL, "1", "--output", filepath.Join(dir, "late")); err == nil || !strings.Contains(err.Error(), `the output of the batch "`) {
		t.Errorf("fetched after it was retired: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(p.Dir, "results", "*", "api1_*")); err != nil || len(left) > 0 {
		t.Errorf("after it was retired there are %v, %v", left, err)
	}
	if others, err := filepath.Glob(filepath.Join(p.Dir, "results", "*", "*")); err != nil || len(others) == 0 {
		t.Errorf("the output of other batches is gone: %v, %v", others, err)
	}
	write("token", "")
	if err := remote("list", p.URL); err == nil || !strings.Contains(err.Error(), "there is no token") {
		t.Errorf("without a token: %v", err)
	}
}
