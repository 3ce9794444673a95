package web_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testpg"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/store/storetest"
)

// A sender submits work to a site with a separate token.
type sender struct {
	*site
	t      *testing.T
	id     int64
	name   string
	secret string
}

func (s *site) sender(t *testing.T, quota int) *sender {
	t.Helper()
	secret, hash := api.NewToken()
	c := &sender{site: s, t: t, name: hash, secret: secret}
	storetest.Update(t, s.Store, func(tx *store.Tx) (err error) {
		c.id, err = tx.InsertToken(store.Token{CreateTime: time.Now(), Name: hash, Hash: hash, Quota: quota})
		return err
	})
	return c
}

// An ask is a request to the API.
type ask struct{ name, method, path, body string }

func (c *sender) ask(a ask) (code int, text string) {
	r := httptest.NewRequestWithContext(c.t.Context(), a.method, master+"api/v1/"+a.path, strings.NewReader(a.body))
	r.Header.Set("Authorization", "Bearer "+c.secret)
	rec := httptest.NewRecorder()
	c.public.ServeHTTP(rec, r)
	return rec.Code, rec.Body.String()
}

// state returns all visible effects of a sender's requests.
func (c *sender) state(files ...string) string {
	c.t.Helper()
	var b strings.Builder
	err := c.Store.View(c.t.Context(), func(tx *store.View) error {
		list, err := tx.APIBatches(c.id, 100)
		if err != nil {
			return err
		}
		for _, one := range list {
			s, err := api.Status(tx, one)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "%s: expected %d, unfinished %d, failed %d, made %v, retired %v\n", s.Name, s.Workunits, s.Unfinished, s.Failed, one.Made, s.Retired)
		}
		return nil
	})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, name := range files {
		f, err := c.Download.Open(c.t.Context(), fmt.Sprintf("token%d_%s", c.id, name))
		if err != nil {
			continue
		}
		text, _ := io.ReadAll(f)
		_ = f.Close()
		fmt.Fprintf(&b, "%s: %.3s\n", name, text)
	}
	return b.String()
}

func newBatchSite(t *testing.T, database string) *site {
	t.Helper()
	s := newSiteOn(t, database)
	if err := operate.AddApp(t.Context(), s.Project, operate.NewApp{Name: "upper", Validator: "bitwise", Assimilator: "copy"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return s
}

func batchOf(name string, workunits int, input string) string {
	type m = map[string]any
	list := make([]m, workunits)
	for i := range list {
		list[i] = m{"inputs": []m{{"name": "in", "text": fmt.Sprint(input, i)}}}
	}
	b, _ := json.Marshal(m{"name": name, "app": "upper", "workunits": list})
	return string(b)
}

// numbers matches the numbers that differ between senders.
var numbers = regexp.MustCompile(`"(id|create_time)":[^,]*`)

// onBoth runs a test on each kind of database.
func onBoth(t *testing.T, test func(t *testing.T, database string)) {
	for name, database := range map[string]string{"SQLite": "", "PostgreSQL": testpg.Start(t).Database(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, database)
		})
	}
}

// A round is a new set of data for one pair of requests.
type round struct {
	send  func(request int) (answer string)
	state func() string             // all visible effects
	right func(outcome string) bool // reports a correct outcome that neither order has (may be nil)
}

// pairsAtOnce sends pairs of requests, which have these names, at the same time. The answers and the state
// must be as if one was sent after the other, in one of the two orders. One of so many pairs is tried,
// chosen at random, and with HOSTILE_LONG=1 each.
func pairsAtOnce(t *testing.T, names []string, oneOf, tries int, begin func() round) {
	t.Helper()
	if os.Getenv("HOSTILE_LONG") != "" {
		oneOf, tries = 1, 2*tries
	}
	chosen := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	outcome := func(r round, answers ...string) string {
		slices.Sort(answers)
		return strings.Join(answers, "\n") + "\n" + r.state()
	}
	name := func(i int, answer string) string { return names[i] + ": " + answer }
	for i := range names {
		for j := i; j < len(names); j++ {
			if chosen.IntN(oneOf) > 0 {
				continue
			}
			serial := make(map[string]bool)
			for _, order := range [][2]int{{i, j}, {j, i}} {
				r := begin()
				first := name(order[0], r.send(order[0]))
				serial[outcome(r, first, name(order[1], r.send(order[1])))] = true
			}
			for range tries {
				r := begin()
				answers := make([]string, 2)
				var both sync.WaitGroup
				for k, request := range []int{i, j} {
					both.Go(func() { answers[k] = name(request, r.send(request)) })
				}
				both.Wait()
				if got := outcome(r, answers...); !serial[got] && (r.right == nil || !r.right(got)) {
					t.Errorf("%q and %q at once:\n%s\none after the other:\n%s", names[i], names[j], got, strings.Join(slices.Sorted(maps.Keys(serial)), "\nor\n"))
					break
				}
			}
		}
	}
}

func TestRequestsForBatchesAtOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		s := newBatchSite(t, database)
		asks := []ask{
			{"submit", "POST", "batches", batchOf("a", 3, "x")},
			{"submit other work of that name", "POST", "batches", batchOf("a", 3, "y")},
			{"submit more than the rest of the quota", "POST", "batches", batchOf("b", 8, "z")},
			{"cancel", "DELETE", "batches/FIRST", ""},
			{"retire", "POST", "batches/FIRST/retire", ""},
			{"upload", "PUT", "files/f", strings.Repeat("one", 5000)},
			{"upload other content", "PUT", "files/f", strings.Repeat("two", 5000)},
			{"submit with the file", "POST", "batches", `{"name":"c","app":"upper","workunits":[{"inputs":[{"name":"in","staged":"f"}]}]}`},
		}
		var names []string
		for _, a := range asks {
			names = append(names, a.name)
		}
		pairsAtOnce(t, names, 2, 4, func() round {
			c := s.sender(t, 11)
			_, text := c.ask(ask{"", "POST", "batches", batchOf("first", 2, "w")})
			var b struct{ ID int64 }
			_ = json.Unmarshal([]byte(text), &b)
			id := fmt.Sprint(b.ID)
			return round{send: func(i int) string {
				a := asks[i]
				a.path = strings.ReplaceAll(a.path, "FIRST", id)
				code, text := c.ask(a)
				if a.method == "POST" && code == http.StatusCreated {
					code = http.StatusOK // which of two is the first does not matter
				}
				text = numbers.ReplaceAllString(text, "")
				if code == http.StatusOK { // its counts vary with the time, and the state has them
					text = ""
				}
				return fmt.Sprint(code, " ", text)
			}, state: func() string { return c.state("f") }}
		})
	})
}

// many sends the requests concurrently, and returns the number of answers by status code.
func (c *sender) many(asks []ask) map[int]int {
	codes := make(map[int]int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for _, a := range asks {
		wg.Go(func() {
			code, _ := c.ask(a)
			mu.Lock()
			defer mu.Unlock()
			codes[code]++
		})
	}
	wg.Wait()
	return codes
}

// However many batches are sent at once, a token's quota is kept, and the same batch is made once.
func TestQuotasAtOnce(t *testing.T) {
	onBoth(t, quotasAtOnce)
}

func quotasAtOnce(t *testing.T, database string) {
	s := newBatchSite(t, database)
	c := s.sender(t, 10)
	var asks []ask
	for i := range 8 {
		asks = append(asks, ask{"", "POST", "batches", batchOf(fmt.Sprint("b", i), 10, "x")})
	}
	if got := c.many(asks); got[201] != 1 || got[429] != 7 {
		t.Errorf("batches that each need the whole quota: %v", got)
	}
	c = s.sender(t, 0)
	if got := c.many(slices.Repeat([]ask{{"", "POST", "batches", batchOf("b", 20, "x")}}, 8)); got[201]+got[200] != 8 || got[201] != 1 {
		t.Errorf("the same batch: %v", got)
	}
	if got, want := c.state(), "b: expected 20, unfinished 20, failed 0, made true, retired false\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for round := range 6 {
		name := fmt.Sprint("f", round)
		asks = nil
		for i := range 4 {
			asks = append(asks, ask{"", "PUT", "files/" + name, strings.Repeat(fmt.Sprint(i), 1000<<i)})
		}
		if round%2 == 0 {
			if got := c.many(asks); got[200] != 1 || got[409] != 3 {
				t.Errorf("files of one name: %v", got)
			}
		} else {
			c.many(append(asks, slices.Repeat([]ask{{"", "DELETE", "files/" + name, ""}}, 2)...))
		}
		own := fmt.Sprintf("token%d_%s", c.id, name)
		stored, _ := s.Download.Size(t.Context(), own)
		if err := s.Store.View(t.Context(), func(tx *store.View) error {
			counted, err := tx.TokenFile(c.id, own)
			if counted != stored {
				t.Errorf("%d bytes count, %d are stored", counted, stored)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	c = s.sender(t, 0)
	storetest.Update(t, s.Store, func(tx *store.Tx) error {
		return store.Change(tx.Token, c.id, tx.SaveToken, func(t *store.Token) { t.Quota, t.MaxBytes, t.MaxCPUTime, t.Weight = 0, 1500, 0, 1 })
	})
	asks = nil
	for i := range 4 {
		asks = append(asks, ask{"", "PUT", fmt.Sprint("files/g", i), strings.Repeat(fmt.Sprint(i), 1000)},
			ask{"", "POST", "batches", batchOf(fmt.Sprint("g", i), 1, strings.Repeat(fmt.Sprint(i), 1000))})
	}
	if got := c.many(asks); got[200]+got[201] != 1 || got[429] != 7 {
		t.Errorf("files and batches that each need most of the bytes: %v", got)
	}
}

// A token may name its own files and the operator's, by readable names.
func TestNamesOfFiles(t *testing.T) {
	s := newBatchSite(t, "")
	a, b := s.sender(t, 0), s.sender(t, 0)
	for _, name := range []string{"e%E2%80%AEtxt.exe", "a%07b", "a%C2%85b", "%FF", "a%E2%80%A8b"} {
		if code, text := a.ask(ask{"", "PUT", "files/" + name, "x"}); code != 422 {
			t.Errorf("%s: HTTP %d %s", name, code, text)
		}
	}
	if code, text := a.ask(ask{"", "PUT", "files/secret.dat", "x"}); code != 200 {
		t.Fatal(code, text)
	}
	staged := func(logical, name string) string {
		return fmt.Sprintf(`{"name":"n","app":"upper","workunits":[{"inputs":[{"name":%q,"staged":%q}]}]}`, logical, name)
	}
	for _, name := range []string{"secret.dat", fmt.Sprintf("token%d_secret.dat", a.id)} {
		if code, text := b.ask(ask{"", "POST", "batches", staged("in", name)}); code != 422 || !strings.Contains(text, "does not have") {
			t.Errorf("another's file as %s: HTTP %d %s", name, code, text)
		}
	}
	if code, text := a.ask(ask{"", "POST", "batches", `{"name":"m","app":"upper","workunits":[{"inputs":[{"text":"x"}]}]}`}); code != 422 || !strings.Contains(text, "has no name") {
		t.Errorf("an input without a name: HTTP %d %s", code, text)
	}
	if code, text := a.ask(ask{"", "POST", "batches", staged("in", "secret.dat")}); code >= 300 {
		t.Errorf("the own file: HTTP %d %s", code, text)
	}
	path := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := operate.StageFile(t.Context(), s.Project, path, "shared"); err != nil {
		t.Fatal(err)
	}
	if code, text := b.ask(ask{"", "POST", "batches", staged("in", "shared")}); code >= 300 {
		t.Errorf("the operator's file: HTTP %d %s", code, text)
	}
}
