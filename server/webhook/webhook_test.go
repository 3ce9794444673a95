package webhook

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

func TestAllowed(t *testing.T) {
	list := []string{"https://lab.example.org/hooks/", "http://127.0.0.1:9"}
	for address, want := range map[string]bool{
		"https://lab.example.org/hooks/done?x=1": true, "https://LAB.example.org/hooks/done": true, "http://127.0.0.1:9/any": true,
		"https://lab.example.org/hooksdone": false, "https://lab.example.org/": false, "http://lab.example.org/hooks/done": false,
		"https://lab.example.org/hooks/../secret": false, "https://lab.example.org.evil/hooks/done": false, "http://127.0.0.1:90/any": false,
		"https://lab.example.org@evil/hooks/done": false, "https://evil/https://lab.example.org/hooks/": false, "file:///etc/passwd": false, "": false,
		"https://lab.example.org/hooks/%2e%2e/secret": false, "https://lab.example.org/hooks/%252e%252e/secret": false,
		`https://lab.example.org/hooks/\..\secret`: false, "https://lab.example.org/hooks/%5c..%5csecret": false,
	} {
		if got := Allowed(address, list); got != want {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	if Allowed("https://lab.example.org/hooks/done", nil) {
		t.Error("anything is allowed where nothing is")
	}
}

// The example that the specification's own libraries are tested with.
func TestSignature(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A batch's sender is notified when it is done and not before. This is repeated until the message
// is accepted, and then ends. Only one of several processes sends it.
func TestHerald(t *testing.T) {
	st := storetest.Open(t, "")
	token := sha256.Sum256([]byte("secret"))
	now := time.Unix(1_800_000_000, 0)
	code, asked := http.StatusServiceUnavailable, 0
	var pair [2]*Herald
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		body, _ := io.ReadAll(r.Body)
		var got struct {
			Type string
			Data wire.Batch
		}
		if err := json.Unmarshal(body, &got); err != nil || got.Type != "batch.done" || got.Data.Name != "run-1" || !got.Data.Done {
			t.Errorf("sent %s, %v", body, err)
		}
		if want := "v1," + signature(token[:], r.Header.Get("Webhook-Id"), r.Header.Get("Webhook-Timestamp"), body); r.Header.Get("Webhook-Signature") != want {
			t.Errorf("signed %s, want %s", r.Header.Get("Webhook-Signature"), want)
		}
		if n, err := pair[1].Pass(t.Context(), now); n != 0 || err != nil { // while the first waits for the answer
			t.Errorf("the other process: %d, %v", n, err)
		}
		w.WriteHeader(code)
	}))
	defer srv.Close()
	done := false
	var log bytes.Buffer
	for i := range pair {
		pair[i] = New(st, slog.New(slog.NewTextHandler(&log, nil)), []string{srv.URL}, func(_ *store.View, b store.APIBatch) (wire.Batch, error) {
			return wire.Batch{ID: b.ID, Name: b.Name, Done: done}, nil
		})
	}
	storetest.Update(t, st, func(tx *store.Tx) error {
		id, err := tx.InsertToken(store.Token{CreateTime: now, Name: "lab", Hash: hex.EncodeToString(token[:])})
		if err != nil {
			return err
		}
		for _, b := range []store.APIBatch{{Name: "run-1", Webhook: srv.URL + "/x"}, {Name: "run-2"}} {
			b.CreateTime, b.TokenID, b.Expected = now, id, 1
			if b.ID, err = tx.InsertAPIBatch(b); err != nil {
				return err
			}
			made := b
			made.Made = true
			if err := tx.SaveAPIBatch(b, made); err != nil {
				return err
			}
		}
		return nil
	})
	pass := func(after time.Duration, told, requests int) {
		t.Helper()
		now = now.Add(after)
		if n, err := pair[0].Pass(t.Context(), now); n != told || asked != requests || err != nil {
			t.Errorf("told %d of %d, %d requests of %d, %v", n, told, asked, requests, err)
		}
	}
	pass(0, 0, 0)
	pass(time.Hour, 0, 0)
	done = true
	pass(time.Second, 0, 0) // it was looked at just now
	pass(time.Minute, 0, 1)
	pass(30*time.Second, 0, 1)
	pass(time.Minute, 0, 2)
	code = http.StatusNoContent
	pass(time.Minute, 0, 2) // two minutes this time
	pass(2*time.Minute, 1, 3)
	pass(24*time.Hour, 0, 3)
	if !bytes.Contains(log.Bytes(), []byte("webhook delivered")) || !bytes.Contains(log.Bytes(), []byte("503 Service Unavailable")) {
		t.Errorf("the log: %s", log.Bytes())
	}
}

// Several receivers are notified at the same time, so that one that does not answer delays no other.
func TestReceiversAtOnce(t *testing.T) {
	st := storetest.Open(t, "")
	const n = 3
	var here sync.WaitGroup
	here.Add(n)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		here.Done()
		here.Wait() // for the others
	}))
	defer srv.Close()
	now := time.Unix(1_800_000_000, 0)
	storetest.Update(t, st, func(tx *store.Tx) error {
		id, err := tx.InsertToken(store.Token{CreateTime: now, Name: "lab", Hash: "00"})
		for i := range n {
			b := store.APIBatch{Name: fmt.Sprint(i), Webhook: srv.URL, CreateTime: now, TokenID: id, Expected: 1}
			var err2 error
			b.ID, err2 = tx.InsertAPIBatch(b)
			made := b
			made.Made = true
			err = errors.Join(err, err2, tx.SaveAPIBatch(b, made))
		}
		return err
	})
	h := New(st, slog.New(slog.DiscardHandler), []string{srv.URL}, func(_ *store.View, b store.APIBatch) (wire.Batch, error) {
		return wire.Batch{ID: b.ID, Done: true}, nil
	})
	if told, err := h.Pass(t.Context(), now.Add(time.Hour)); told != n || err != nil {
		t.Errorf("told %d, %v", told, err)
	}
}
