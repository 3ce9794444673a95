package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/workgen"
)

// The test's program is also the project's program: it writes its input for each message to a
// separate file.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == handleTrickle {
		os.Exit(handle(os.Args[2]))
	}
	account.HashCost = bcrypt.MinCost // most tests make accounts, and few are about passwords
	code := m.Run()
	for _, dir := range benchDirs {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// handleTrickle is the first argument of the test's program when it handles a message. The second
// is the folder to write to.
const handleTrickle = "handle-trickle"

func handle(dir string) int {
	b, err := io.ReadAll(os.Stdin)
	var m struct{ Variety string }
	err = errors.Join(err, json.Unmarshal(b, &m), os.WriteFile(filepath.Join(dir, m.Variety), b, 0o600))
	if err != nil {
		return 1
	}
	return 0
}

func TestTrickles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	exe, err := os.Executable()
	w.must(err)
	dir := filepath.Join(t.TempDir(), "handled")
	w.must(operate.AddApp(t.Context(), w.p, operate.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "copy", Trickle: fmt.Sprintf("exec:'%s' %s '%s'", exe, handleTrickle, dir)}, w.now()))
	w.must(operate.AddVersion(t.Context(), w.p, operate.NewVersion{
		App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.00", Main: w.file("upper", "#!/bin/sh\n"),
	}, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	c.fetch()
	messages := func() (list []store.MsgFromHost) {
		w.must(w.p.Store.View(t.Context(), func(tx *store.View) (err error) {
			list, err = tx.MsgsFromHost(0, 100)
			return err
		}))
		return list
	}

	sent := time.Unix(1_800_000_000, 0)
	c.trickles = []protocol.Trickle{
		{ResultName: "wu_0", Time: sent, Text: "<variety>progress</variety>\n50 % & more\n"},
		{ResultName: "nobody_0", Time: sent, Text: "x\n"},
	}
	for range 2 { // the acknowledgement is lost once
		if reply := c.rpc(0); !reply.MessageAck {
			t.Error("not acknowledged")
		}
	}
	c.trickles = nil
	if c.rpc(0).MessageAck {
		t.Error("acknowledged without a message")
	}
	if list := messages(); len(list) != 1 || list[0].Variety != "progress" || !list[0].SentTime.Equal(sent) || list[0].HostID != c.host {
		t.Fatalf("got %+v", list)
	}

	w.step() // the folder is missing
	if messages()[0].Handled {
		t.Error("a message counts as handled though its program failed")
	}
	w.must(os.Mkdir(dir, 0o750))
	w.step()
	if !messages()[0].Handled {
		t.Error("the message was not handled")
	}
	var told struct {
		App, Result, Text string
		HostID            int64
	}
	b, err := os.ReadFile(filepath.Join(dir, "progress"))
	w.must(err)
	w.must(json.Unmarshal(b, &told))
	if told.App != "upper" || told.Result != "wu_0" || told.HostID != c.host || !strings.Contains(told.Text, "50 % & more") {
		t.Errorf("told %+v", told)
	}
}

func TestTrickleDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	for name, tt := range map[string]struct{ result, text, want string }{
		"no such result": {"nobody_0", "x", "not found"},
		"not sent":       {"wu_0", "x", "not in progress"},
		"empty":          {"wu_0", " ", "empty"},
		"a tag":          {"wu_0", "a</trickle_down>", "read as its end"},
		"too long":       {"wu_0", strings.Repeat("x", 1<<17), "the limit is 65536"},
	} {
		if err := operate.SendTrickle(t.Context(), w.p, tt.result, tt.text, w.now()); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	work := c.fetch()
	w.must(operate.SendTrickle(t.Context(), w.p, "wu_0", "<steps>\n5 & 6\n</steps>", w.now()))
	if other := (&client{w: w, key: c.key, name: "b"}).rpc(0); len(other.TrickleDowns) != 0 {
		t.Error("another host got it")
	}
	got := c.rpc(0).TrickleDowns
	if len(got) != 1 || got[0].ResultName != "wu_0" || strings.TrimSpace(got[0].Text) != "<steps>\n5 & 6\n</steps>" {
		t.Errorf("got %+v", got)
	}
	if again := c.rpc(0).TrickleDowns; len(again) != 0 {
		t.Errorf("got it again: %+v", again)
	}
	w.must(operate.SendTrickle(t.Context(), w.p, "wu_0", "late", w.now()))
	c.have = nil
	c.compute(work)
	if late := c.rpc(0).TrickleDowns; len(late) != 0 {
		t.Errorf("the result is over, yet: %+v", late)
	}
}
