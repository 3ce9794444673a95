package web_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
)

// late calls a function before the first of its content is read.
type late struct {
	io.Reader
	once func()
}

func (l *late) Read(b []byte) (int, error) {
	if l.once != nil {
		l.once()
		l.once = nil
	}
	return l.Reader.Read(b)
}

// The limits of a token are those at the time when its work is made, however long a request's body takes to
// arrive, and a revocation ends the request.
func TestTokensChangeDuringARequest(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		s := newBatchSite(t, database)
		limit := func(change func(*operate.TokenLimits)) func(c *sender) error {
			return func(c *sender) error { return operate.SetToken(t.Context(), s.Project, c.name, change) }
		}
		for _, tt := range []struct {
			name   string
			change func(c *sender) error
			code   int
			says   string
		}{
			{"revoked", func(c *sender) error {
				return operate.RevokeToken(t.Context(), s.Project, c.name, time.Now())
			}, http.StatusUnauthorized, "was revoked"},
			{"quota", limit(func(l *operate.TokenLimits) { l.Quota = 2 }), http.StatusTooManyRequests, "it may have 2"},
			{"bytes", limit(func(l *operate.TokenLimits) { l.MaxGB = 2.0 / (1 << 30) }), http.StatusTooManyRequests, "it may have 2 bytes"},
			{"more", limit(func(l *operate.TokenLimits) { l.Quota = 3 }), http.StatusCreated, `"b"`},
		} {
			for _, a := range []ask{{"", "POST", "batches", batchOf("b", 3, "x")}, {"", "PUT", "files/f", "abc"}} {
				before := 0 // the quota at first, unlimited
				if tt.name == "more" {
					before = 2
				}
				c := s.sender(t, before)
				r := httptest.NewRequestWithContext(t.Context(), a.method, master+"api/v1/"+a.path, &late{strings.NewReader(a.body), func() {
					if err := tt.change(c); err != nil {
						t.Error(err)
					}
				}})
				r.Header.Set("Authorization", "Bearer "+c.secret)
				rec := httptest.NewRecorder()
				s.public.ServeHTTP(rec, r)
				if a.method == "PUT" && (tt.name == "quota" || tt.name == "more") { // which is not for files
					continue
				}
				if rec.Code != tt.code || !strings.Contains(rec.Body.String(), tt.says) {
					t.Errorf("%s, %s: HTTP %d %s", tt.name, a.path, rec.Code, rec.Body)
				}
				if got := c.state("f"); tt.code != http.StatusCreated && tt.name != "bytes" && got != "" { // a batch that is refused later stays, without workunits
					t.Errorf("%s, %s: %s", tt.name, a.path, got)
				}
			}
		}
	})
}

// Fifty helpers use one token near the end of its limits, while jobs are finished and cancelled, the operator
// changes the quota, and others list what there is. The token never has more than it may.
func TestATokenUnderLoad(t *testing.T) {
	const helpers, rounds, quota, most = 50, 8, 40, 40_000
	onBoth(t, func(t *testing.T, database string) {
		s := newBatchSite(t, database)
		c := s.sender(t, quota)
		set := func(q int) error {
			return operate.SetToken(t.Context(), s.Project, c.name, func(l *operate.TokenLimits) { l.Quota, l.MaxGB = q, float64(most)/(1<<30) })
		}
		if err := set(quota); err != nil {
			t.Fatal(err)
		}
		var codes [600]atomic.Int64
		var work, watch sync.WaitGroup
		done := make(chan struct{})
		for range 2 {
			watch.Go(func() { // the amounts at any time
				for {
					err := s.Store.View(t.Context(), func(tx *store.View) error {
						n, err := tx.UnfinishedOfToken(c.id, 0, time.Now())
						if err != nil || n > quota {
							return errors.Join(err, fmt.Errorf("%d unfinished workunits", n))
						}
						stored, err := tx.TokenBytes(c.id)
						if err != nil || stored > most {
							return errors.Join(err, fmt.Errorf("%d bytes", stored))
						}
						return nil
					})
					if err != nil {
						t.Error(err)
						return
					}
					select {
					case <-done:
						return
					default:
					}
				}
			})
		}
		watch.Go(func() { // listing while others insert
			for {
				code, text := c.ask(ask{"", "GET", "batches", ""})
				var list wire.Batches
				if err := json.Unmarshal([]byte(text), &list); code != 200 || err != nil {
					t.Errorf("HTTP %d %.200s %v", code, text, err)
					return
				}
				last := int64(1 << 62)
				for _, b := range list.Batches {
					if b.ID >= last {
						t.Errorf("batch %d comes after %d", b.ID, last)
					}
					last = b.ID
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
		for h := range helpers {
			work.Go(func() {
				r := rand.New(rand.NewPCG(uint64(h), 1))
				for round := range rounds {
					name := fmt.Sprintf("h%d-%d", h, round)
					a := ask{"", "POST", "batches", batchOf(name, 1+r.IntN(9), strings.Repeat("x", r.IntN(200)))}
					if h%10 == 0 {
						a = ask{"", "PUT", "files/" + name, strings.Repeat("y", 1+r.IntN(900))}
					}
					code, text := c.ask(a)
					codes[code].Add(1)
					if code != 200 && code != 201 && code != 429 {
						t.Errorf("%s: HTTP %d %s", name, code, text)
					}
					if code != 201 {
						continue
					}
					var b wire.Batch
					if err := json.Unmarshal([]byte(text), &b); err != nil {
						t.Error(err)
					}
					if r.IntN(4) == 0 {
						if err := set([]int{quota / 2, quota}[r.IntN(2)]); err != nil {
							t.Error(err)
						}
					}
					c.ask(ask{"", "DELETE", fmt.Sprint("batches/", b.ID), ""})
				}
			})
		}
		work.Wait()
		close(done)
		watch.Wait()
		t.Logf("%d batches, %d files, %d refused", codes[201].Load(), codes[200].Load(), codes[429].Load())
		if codes[201].Load() < 10 || codes[429].Load() < 10 {
			t.Error("the limits were not reached")
		}
	})
}
