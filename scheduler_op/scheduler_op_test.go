package schedulerop_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/starling-grid/starling/protocol"
	schedulerop "github.com/starling-grid/starling/scheduler_op"
)

// client makes a client like the agent's, except for its waits.
func client(transport http.RoundTripper) *schedulerop.Client {
	c := retryablehttp.NewClient()
	if transport != nil {
		c.HTTPClient.Transport = transport
	}
	c.Logger = nil
	c.RetryMax = 2
	c.RetryWaitMin, c.RetryWaitMax = time.Millisecond, time.Millisecond
	c.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return &schedulerop.Client{HTTP: c, UserAgent: "BOINC client (test)"}
}

// body reads the recorded answer of a real server.
func body(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "protocol", "testdata", "captures", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	_, b, ok := bytes.Cut(b, []byte("\r\n\r\n"))
	if !ok {
		t.Fatalf("%s has no body", name)
	}
	return b
}

const goodReply = "debian-7.20.5/keys/006-scheduler.response.http"

// wire hands requests to a handler without a socket.
type wire struct{ h http.HandlerFunc }

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	w.h(rec, r)
	return rec.Result(), nil
}

const key = "0123456789abcdef0123456789abcdef"

var request = &protocol.SchedulerRequest{Authenticator: key}

func TestSessionTriesSchedulersInTurn(t *testing.T) {
	good := body(t, goodReply)
	for _, tt := range []struct {
		first int
		good  string // the one that answers
		asked string // in order, short retries left out
	}{
		{0, "a", "a"},
		{1, "b", "b"},
		{5, "c", "c"},
		{0, "c", "a b c"},
		{2, "b", "c a b"},
		{1, "", "b c a"},
	} {
		var asked []string
		c := client(wire{func(w http.ResponseWriter, r *http.Request) {
			host, _, _ := strings.Cut(r.Host, ".")
			if !slices.Contains(asked, host) {
				asked = append(asked, host)
			}
			sent, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Equal(sent, request.Encode()) || r.Method != http.MethodPost ||
				r.Header.Get("Content-Type") != "text/xml" || r.Header.Get("User-Agent") != "BOINC client (test)" {
				t.Errorf("asked with %s, headers %v, %d bytes (%v)", r.Method, r.Header, len(sent), err)
			}
			switch host {
			case tt.good:
				_, _ = w.Write(good)
			case "a":
				w.WriteHeader(http.StatusInternalServerError)
			case "b":
				http.NotFound(w, r)
			case "c":
				_, _ = io.WriteString(w, "<html>Please log in</html>")
			}
		}})
		reply, err := c.Session(t.Context(), []string{"http://a.example/cgi", "http://b.example/cgi", "http://c.example/cgi"}, tt.first, request)
		if got := strings.Join(asked, " "); got != tt.asked {
			t.Errorf("first %d, good %q: asked %q, want %q", tt.first, tt.good, got, tt.asked)
		}
		if tt.good != "" {
			if err != nil || reply.ProjectName == "" {
				t.Errorf("first %d, good %q: %v", tt.first, tt.good, err)
			}
			continue
		}
		want := "scheduler http://b.example/cgi: HTTP 404 Not Found\n" +
			"scheduler http://c.example/cgi: scheduler reply: "
		if reply != nil || err == nil || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "(the reply is a web page, perhaps a network login page or a maintenance notice)\n") ||
			!strings.HasSuffix(err.Error(), "\nscheduler http://a.example/cgi: HTTP 500 Internal Server Error") {
			t.Errorf("got %v, %v", reply, err)
		}
		if strings.Contains(err.Error(), key) {
			t.Error("the authenticator is in the error")
		}
	}
	if _, err := client(nil).Session(t.Context(), nil, 0, request); err == nil {
		t.Error("no URL was no error")
	}
}

func TestAnswersThatCannotBeUsed(t *testing.T) {
	good := body(t, goodReply)
	for _, tt := range []struct {
		name string
		h    http.HandlerFunc
		text string
	}{
		{"web page", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "\n<!DOCTYPE HTML><html></html>")
		}, "a web page, perhaps a network login page"},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, "(the reply is empty)"},
		{"text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "come back later") }, "scheduler reply: "},
		{"half of it", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good[:len(good)/2]) }, "is not closed"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(good[:100])
		}, "connection closed in the middle of the reply: unexpected EOF"},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"far too long", func(w http.ResponseWriter, _ *http.Request) {
			blank := bytes.Repeat([]byte(" "), 1<<20)
			for range 65 {
				if _, err := w.Write(blank); err != nil {
					return
				}
			}
		}, "reply longer than 67108864 bytes"},
		{"unavailable", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "HTTP 503 Service Unavailable"},
		{"redirected in a circle", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusTemporaryRedirect) }, "stopped after 10 redirects"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.h)
			defer srv.Close()
			_, err := client(nil).Session(t.Context(), []string{srv.URL}, 0, request)
			if err == nil || !strings.HasPrefix(err.Error(), "scheduler "+srv.URL+": ") || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("got %v, want %q in it", err, tt.text)
			}
			if n := strings.Count(err.Error(), srv.URL); n != 1 {
				t.Errorf("%v: the URL stands there %d times", err, n)
			}
			if e, ok := errors.AsType[*schedulerop.Error](err); !ok || e.URL != srv.URL {
				t.Errorf("got %T", err)
			}
		})
	}
}

func TestSessionEnds(t *testing.T) {
	urls := []string{"http://a.example/cgi", "http://b.example/cgi"}
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := client(hanging(func() { asked++ }))
		begin := time.Now()
		_, err := c.Session(t.Context(), urls, 0, request)
		if !errors.Is(err, context.DeadlineExceeded) || asked != 2 || time.Since(begin) != 10*time.Minute {
			t.Errorf("%v after %v and %d requests; want both schedulers given 5 minutes", err, time.Since(begin), asked)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		_, err := client(hanging(func() { asked++; cancel() })).Session(ctx, urls, 0, request)
		if !errors.Is(err, context.Canceled) || asked != 1 {
			t.Errorf("%v after %d requests; want the end after one", err, asked)
		}
	})
}

// dripping answers with a byte a second.
type dripping struct{}

func (dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: make(http.Header), Body: io.NopCloser(secondly{r.Context()}), Request: r}, nil
}

type secondly struct{ ctx context.Context }

func (s secondly) Read(p []byte) (int, error) {
	select {
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, " "), nil
	}
}

// Every kind of conversation ends if its answer drips, with an error that says so.
func TestDrippingAnswers(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *schedulerop.Client) error{
		"scheduler": func(ctx context.Context, c *schedulerop.Client) error {
			_, err := c.Session(ctx, []string{"http://a.example/cgi"}, 0, request)
			return err
		},
		"master page": func(ctx context.Context, c *schedulerop.Client) error {
			_, err := c.MasterPage(ctx, "http://a.example/")
			return err
		},
		"account manager": func(ctx context.Context, c *schedulerop.Client) error {
			_, err := c.Manager(ctx, "http://a.example/", new(protocol.ManagerRequest))
			return err
		},
		"project config": func(ctx context.Context, c *schedulerop.Client) error {
			_, err := c.ProjectConfig(ctx, "http://a.example/")
			return err
		},
		"account": func(ctx context.Context, c *schedulerop.Client) error {
			_, err := c.LookupHash(ctx, "http://a.example/", "a@b.example", "hash")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				err := ask(t.Context(), client(dripping{}))
				if took := time.Since(begin); err == nil || !strings.Contains(err.Error(), "too slow: less than 1024 bytes in 30s") || took > time.Minute {
					t.Errorf("%v after %v", err, took)
				}
			})
		})
	}
}

// A project whose many schedulers all fail to answer is given up in time.
func TestASessionWithManySchedulersEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		urls := make([]string, 30)
		for i := range urls {
			urls[i] = "http://a.example/cgi"
		}
		if _, err := client(hanging(func() {})).Session(t.Context(), urls, 0, request); err == nil || time.Since(begin) != 10*time.Minute {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// hanging never answers.
type hanging func()

func (f hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	f()
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestMasterPage(t *testing.T) {
	page := body(t, "debian-7.20.5/faults/002-master.response.http")
	for _, tt := range []struct {
		name string
		h    http.HandlerFunc
		text string
	}{
		{"good", func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Path != "/project/" {
				t.Errorf("asked with %s %s", r.Method, r.URL)
			}
			_, _ = w.Write(page)
		}, ""},
		{"another site's page", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html></html>") }, "no scheduler URL in the master page"},
		{"gone", http.NotFound, "HTTP 404 Not Found"},
		{"too long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 4<<20+1)) }, "reply longer than 4194304 bytes"},
	} {
		urls, err := client(wire{tt.h}).MasterPage(t.Context(), "http://p.example/project/")
		switch {
		case tt.text == "":
			if err != nil || !slices.Equal(urls, []string{"http://127.0.0.1:18080/demo_cgi/cgi"}) {
				t.Errorf("got %q, %v", urls, err)
			}
		case err == nil || err.Error() != "master page http://p.example/project/: "+tt.text:
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.text)
		}
	}
}

func TestLookup(t *testing.T) {
	const email, password = "Ann@Example.org", "secret words"
	hash := protocol.PasswordHash(password, email)
	give := func(b []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			if r.URL.Path != "/p/lookup_account.php" || q.Get("email_addr") != "ann@example.org" || q.Get("passwd_hash") != hash {
				t.Errorf("asked for %s", r.URL)
			}
			_, _ = w.Write(b)
		}
	}
	for _, tt := range []struct {
		name      string
		url       string
		transport http.RoundTripper
		text      string // of the error ("" means success)
	}{
		{"known", "http://p.example/p/", wire{give(protocol.EncodeAccountOut(key))}, ""},
		{"wrong password", "http://p.example/p/", wire{give(protocol.EncodeAccountError(protocol.ErrNumBadPassword, "bad password"))}, "bad password (-206)"},
		{"unknown", "http://p.example/p/", wire{give(protocol.EncodeAccountError(protocol.ErrNumNotFound, ""))}, "no account with this e-mail address"},
		{"web page", "http://p.example/p/", wire{give([]byte("<html>"))}, "(the reply is a web page"},
		{"nothing", "http://p.example/p/", wire{give(nil)}, "(the reply is empty)"},
		{"server error", "http://p.example/p/", wire{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}, "HTTP 502 Bad Gateway"},
		{"unreachable", "http://p.example/p/", failing{}, "no route to host"},
		{"an address that is none", "http://p%zz.example/p/", failing{}, "invalid URL escape"},
		{"unknown scheme", "gopher://p.example/p/", nil, "unsupported protocol scheme"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := client(tt.transport).Lookup(t.Context(), tt.url, email, password)
			if tt.text == "" {
				if err != nil || got != key {
					t.Errorf("got %q, %v", string(got), err)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.HasPrefix(err.Error(), "account "+tt.url+"lookup_account.php: ") || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, want %q in it", err, tt.text)
			}
			for _, secret := range []string{hash, password, "ann@", "Ann@", "?"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in the error: %v", secret, err)
				}
			}
		})
	}
}

type failing struct{}

func (failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

func TestAuthenticatorsAreNotLogged(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	reply, err := client(wire{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }}).
		Session(t.Context(), []string{"http://p.example/cgi"}, 0, request)
	log.Debug("session", "key", request.Authenticator, "reply", reply, "error", err)
	if !strings.Contains(out.String(), "(hidden)") || strings.Contains(out.String(), key) {
		t.Errorf("logged %s", out.String())
	}
}
