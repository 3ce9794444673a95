package fault

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ in, want, err string }{
		{"", "", ""},
		{"lose-reply=0.1,slow=2s,5xx=0.05,cut=0.1", "5xx=0.05,lose-reply=0.1,cut=0.1,slow=2s", ""},
		{" cut , slow=0s", "cut=1", ""},
		{"lose-request=0.5,lose-reply=0.5", "lose-request=0.5,lose-reply=0.5", ""},
		{"lose-request=0.05,5xx=0.55,lose-reply=0.3,cut=0.1", "lose-request=0.05,5xx=0.55,lose-reply=0.3,cut=0.1", ""}, // the floating-point sum is above 1
		{"cut=0.00001", "cut=0.00001", ""},
		{"loose=1", "", "want one of lose-request, 5xx, lose-reply, cut, slow"},
		{"=", "", "want one of"},
		{"cut=2", "", "a chance from 0 to 1, such as cut=0.1"},
		{"cut=NaN", "", "a chance from 0 to 1"},
		{"cut=-1", "", "a chance from 0 to 1"},
		{"cut=", "", "a chance from 0 to 1"},
		{"cut=0.6,5xx=0.6", "", "add up to 1.2"},
		{"slow", "", "such as slow=2s"},
		{"slow=-1s", "", "such as slow=2s"},
		{"slow=2h", "", "at most 10m"},
	} {
		f, err := Parse(tt.in)
		if got := f.String(); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%q: got %v, want %q", tt.in, err, tt.err)
		}
	}
}

// serve answers every request with a text, and counts them.
func serve(t *testing.T, f Faults, seed uint64, text string) (url string, handled *atomic.Int32) {
	t.Helper()
	handled = new(atomic.Int32)
	s := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		handled.Add(1)
		_, _ = io.WriteString(w, text)
	}), f, seed, slog.New(slog.DiscardHandler)))
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	t.Cleanup(s.Close)
	return s.URL, handled
}

// get sends a POST request, since these are never repeated automatically, and returns the answer.
func get(ctx context.Context, url, own string) (code int, body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		return 0, nil, err
	}
	if own != "-" {
		req.Header.Set(Header, own)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.StatusCode, body, err
}

// A request meets the faults that it asks for.
func TestFaultsOfARequest(t *testing.T) {
	large := strings.Repeat("0123456789", 500_000)
	for _, tt := range []struct {
		own, text string
		code      int
		handled   int32
		least     int // bytes of the body
		most      int
		whole     bool
	}{
		{"", "hello", 200, 1, 5, 5, true},
		{"lose-request", "hello", 0, 0, 0, 0, false},
		{"lose-reply", "hello", 0, 1, 0, 0, false},
		{"5xx", "hello", 503, 0, 1, 100, true},
		{"cut", "hello", 200, 1, 3, 3, false},
		{"cut", large, 200, 1, 1, len(large) / 2, false},
		{"slow=1ms", "hello", 200, 1, 5, 5, true},
		{"nonsense", "hello", 400, 0, 1, 200, true},
	} {
		url, handled := serve(t, Faults{Slow: time.Hour}, 1, tt.text)
		code, body, err := get(t.Context(), url, tt.own)
		if code != tt.code || handled.Load() != tt.handled || len(body) < tt.least || len(body) > tt.most || (err == nil) != tt.whole {
			t.Errorf("%q: status %d, %d bytes, %v; handled %d times", tt.own, code, len(body), err, handled.Load())
		}
	}
}

// The same seed brings the same faults, in the proportions that were asked for.
func TestFaultsAreRepeated(t *testing.T) {
	f, err := Parse("lose-reply=0.2,5xx=0.3")
	if err != nil {
		t.Fatal(err)
	}
	var runs [2][]byte
	for i := range runs {
		url, _ := serve(t, f, 7, "hello")
		for range 200 {
			switch code, _, err := get(t.Context(), url, "-"); {
			case err != nil:
				runs[i] = append(runs[i], 'l')
			case code == http.StatusServiceUnavailable:
				runs[i] = append(runs[i], '5')
			default:
				runs[i] = append(runs[i], '.')
			}
		}
	}
	if !bytes.Equal(runs[0], runs[1]) {
		t.Errorf("first\n%s\nthen\n%s", runs[0], runs[1])
	}
	if l, u := bytes.Count(runs[0], []byte("l")), bytes.Count(runs[0], []byte("5")); l < 20 || l > 60 || u < 35 || u > 85 {
		t.Errorf("%d replies were lost and %d refused, of 200", l, u)
	}
}

// A client that does not wait ends the wait.
func TestASlowServerForgetsWhoLeaves(t *testing.T) {
	url, handled := serve(t, Faults{Slow: time.Hour}, 1, "hello")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(req); err == nil {
		_ = res.Body.Close()
		t.Error("it was answered")
	}
	if n := handled.Load(); n != 0 {
		t.Errorf("handled %d times", n)
	}
}
