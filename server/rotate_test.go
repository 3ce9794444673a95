package server_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

// Hosts that have a former key accept the new one, and the programs are signed with it. An
// interrupted rotation is resumed.
func TestRotateKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	reopen := func() {
		t.Helper()
		w.must(w.p.Close())
		p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
		w.must(err)
		t.Cleanup(func() { _ = p.Close() })
		w.p = p
	}
	serve := func() (err error) {
		w.web, err = server.New(w.p, server.Part{}).Handler(func() {})
		return err
	}
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	learn := func() {
		t.Helper()
		w.create(workgen.Params{}, "hello")
		reply := c.fetch()
		if len(reply.Results) != 1 {
			t.Fatalf("%d results, %+v", len(reply.Results), reply.Messages)
		}
		if c.codeSign != "" {
			w.must(protocol.AcceptNewKey(c.codeSign, reply.CodeSignKey, reply.CodeSignKeySignature))
		}
		key, err := protocol.ParsePublicKey(reply.CodeSignKey)
		w.must(err)
		for _, f := range reply.Files {
			if f.Signature == "" {
				continue
			}
			if err := key.Verify(strings.NewReader(c.download(f)), f.Signature); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
		if c.codeSign == "" {
			c.codeSign = reply.CodeSignKey // and never learns another
		}
		c.compute(reply)
	}
	learn()

	var name string
	w.must(filepath.WalkDir(filepath.Join(w.dir, "download"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "upper_") {
			name = path
		}
		return err
	}))
	w.must(os.Rename(name, name+".away"))
	if err := operate.RotateKey(t.Context(), w.p); err == nil {
		t.Fatal("programs that are not there were signed")
	}
	reopen()
	if err := serve(); err == nil || !strings.Contains(err.Error(), "key rotate") {
		t.Errorf("served amid a rotation: %v", err)
	}
	w.must(os.Rename(name+".away", name))
	w.must(operate.RotateKey(t.Context(), w.p))
	reopen()
	w.must(serve())
	learn()

	w.must(operate.RotateKey(t.Context(), w.p))
	reopen()
	w.must(serve())
	learn()

	away := filepath.Join(w.dir, "keys", "old_key_private_0")
	w.must(os.Rename(away, away+".away"))
	if err := operate.RotateKey(t.Context(), w.p); err == nil || !strings.Contains(err.Error(), "old_key_private_0 is missing") {
		t.Errorf("without a former key: %v", err)
	}
	w.must(os.Rename(away+".away", away))
	w.must(operate.RotateKey(t.Context(), w.p))
	reopen()
	w.must(serve())
	learn()
	for _, left := range []string{"next_code_sign_public", "next_code_sign_private", "old_key_3"} {
		if _, err := os.Stat(filepath.Join(w.dir, "keys", left)); err == nil {
			t.Errorf("keys/%s is there", left)
		}
	}
}

// The key cannot be rotated while a server runs, and a server cannot start during a rotation.
// Several servers, each with a part of the work, do not exclude each other.
func TestRotateKeyAndServersExcludeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before, err := os.ReadFile(filepath.Join(w.dir, "keys", "code_sign_public"))
	w.must(err)
	open := func() *project.Project {
		p, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
		w.must(err)
		t.Cleanup(func() { _ = p.Close() })
		return p
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	addresses := make([]string, 2)
	for i := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		w.must(err)
		addresses[i] = "http://" + l.Addr().String() + "/"
		go func() { ended <- server.New(open(), server.Part{}).Serve(ctx, l) }()
	}
	for _, a := range addresses { // both answer
		resp, err := http.Get(a)
		w.must(err)
		w.must(resp.Body.Close())
	}
	if err := operate.RotateKey(t.Context(), w.p); !errors.Is(err, project.ErrServed) {
		t.Errorf("with a server: %v", err)
	}
	stop()
	w.must(errors.Join(<-ended, <-ended))
	if is, err := os.ReadFile(filepath.Join(w.dir, "keys", "code_sign_public")); err != nil || string(is) != string(before) {
		t.Errorf("the key was touched: %v", err)
	}

	late := open() // it has the key from before
	w.must(operate.RotateKey(t.Context(), w.p))
	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	w.must(err)
	go func() { ended <- server.New(late, server.Part{}).Serve(ctx, l) }()
	w.web = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: l.Addr().String()})
	reply := (&client{w: w, key: w.user("a@example.org"), name: "a"}).rpc(1)
	if is, err := os.ReadFile(filepath.Join(w.dir, "keys", "code_sign_public")); err != nil || reply.CodeSignKey != strings.TrimSpace(string(is)) || string(is) == string(before) {
		t.Errorf("it tells the key %q, want the new one, %q", reply.CodeSignKey, is)
	}
	stop()
	w.must(<-ended)

	rotating := flock.New(filepath.Join(w.dir, "served.lock"))
	ok, err := rotating.TryLock()
	w.must(err)
	if !ok {
		t.Fatal("a server that has ended is still seen")
	}
	defer rotating.Close()
	if err := server.New(open(), server.Part{}).Serve(t.Context(), nil); !errors.Is(err, project.ErrRotating) {
		t.Errorf("a server amid a rotation: %v", err)
	}
}
