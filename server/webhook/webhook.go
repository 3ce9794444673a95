// Package webhook notifies the senders of batches when these are done, at the address that they
// gave, at least once. The message is signed according to the specification Standard Webhooks
// (https://www.standardwebhooks.com), with a key that both sides have: the SHA-256 of the token.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

const (
	atOnce  = 20               // batches that are looked at in a pass
	timeout = 20 * time.Second // of a delivery
	// claimed is the time for which a batch is left to the process that sends its webhook.
	claimed = 2 * timeout
	// A batch that is not done is looked at again after a fraction of its age.
	soonest, latest, fraction = 2 * time.Second, time.Minute, 20
	// A message that is not accepted is sent again after a minute, twice as long, … up to
	// mostPause, 20 times: for about three days.
	pause, mostPause, mostTries = time.Minute, 6 * time.Hour, 20
)

// A Herald notifies senders of batches. It is not safe for concurrent use. Several processes may
// have one each.
type Herald struct {
	Store   *store.Store
	Log     *slog.Logger
	Allowed []string // the beginnings of addresses, see Allowed
	// Status counts the progress of a batch.
	Status func(tx *store.View, b store.APIBatch) (wire.Batch, error)
	HTTP   http.Client // with no redirects
}

// New returns a Herald.
func New(st *store.Store, log *slog.Logger, allowed []string, status func(*store.View, store.APIBatch) (wire.Batch, error)) *Herald {
	return &Herald{Store: st, Log: log, Allowed: allowed, Status: status, HTTP: http.Client{
		Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Allowed reports whether an address begins with one of those that the operator allows: the same
// scheme and host, and a path below theirs.
func Allowed(address string, beginnings []string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	if strings.ContainsAny(u.Path, `\%`) { // receivers that take \ for /, or decode twice, see another path
		return false
	}
	at := path.Clean("/" + u.Path) // without dots, however they are written
	for _, b := range beginnings {
		a, err := url.Parse(b)
		if err == nil && a.Scheme == u.Scheme && strings.EqualFold(a.Host, u.Host) && strings.HasPrefix(at+"/", strings.TrimSuffix(a.Path, "/")+"/") {
			return true
		}
	}
	return false
}

// Pass looks at batches that are due and returns the number of senders that were notified.
func (h *Herald) Pass(ctx context.Context, now time.Time) (told int, err error) {
	due, err := store.Read(ctx, h.Store, func(tx *store.View) ([]store.Webhook, error) { return tx.DueWebhooks(now, atOnce) })
	if err != nil {
		return 0, err
	}
	sent, errs := make([]bool, len(due)), make([]error, len(due))
	var wg sync.WaitGroup
	for i, w := range due { // receivers that do not answer delay no others
		wg.Go(func() { sent[i], errs[i] = h.look(ctx, w, now) })
	}
	wg.Wait()
	for _, ok := range sent {
		if ok {
			told++
		}
	}
	return told, errors.Join(errs...)
}

// look sends a batch's webhook if the batch is done.
func (h *Herald) look(ctx context.Context, w store.Webhook, now time.Time) (told bool, err error) {
	var b wire.Batch
	err = h.Store.View(ctx, func(tx *store.View) (err error) { // counting may take a while
		b, err = h.Status(tx, w.APIBatch)
		return err
	})
	if err != nil {
		return false, err
	}
	next := now.Add(claimed)
	if !b.Done {
		next = now.Add(min(max(now.Sub(w.CreateTime)/fraction, soonest), latest))
	}
	next = next.Truncate(time.Second)
	err = h.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWebhook(w, next, w.Tries) })
	if errors.Is(err, store.ErrLost) { // another process has it
		return false, nil
	}
	if err != nil || !b.Done {
		return false, err
	}
	w.Due = next
	sent := h.send(ctx, w, b, now)
	log := h.Log.With("batch", b.ID, "url", w.Webhook)
	next = time.Time{}
	switch {
	case sent == nil:
		log.Info("webhook delivered")
	case ctx.Err() != nil:
		return false, nil // it stays due
	default:
		if w.Tries++; w.Tries < mostTries {
			next = now.Add(min(pause<<(w.Tries-1), mostPause)).Truncate(time.Second)
			log.Warn("webhook failed", "err", sent, "tries", w.Tries, "next", next)
		} else {
			log.Error("webhook given up", "err", sent, "tries", w.Tries)
		}
	}
	err = h.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWebhook(w, next, w.Tries) })
	return sent == nil, err
}

// send delivers one.
func (h *Herald) send(ctx context.Context, w store.Webhook, b wire.Batch, now time.Time) error {
	if !Allowed(w.Webhook, h.Allowed) { // it was when the batch was made
		return errors.New("webhook_urls no longer allows the address")
	}
	body, err := json.Marshal(map[string]any{"type": "batch.done", "timestamp": now.UTC().Format(time.RFC3339), "data": b})
	if err != nil {
		return err
	}
	key, err := hex.DecodeString(w.TokenHash)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	id, at := fmt.Sprint("batch_", b.ID), fmt.Sprint(now.Unix())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", at)
	req.Header.Set("Webhook-Signature", "v1,"+signature(key, id, at, body))
	res, err := h.HTTP.Do(req)
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	return nil
}

// signature returns the proof of a body's sender and time.
//
// Source: Standard Webhooks, "Signature scheme".
func signature(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
