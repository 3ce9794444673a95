// Package fault makes a server's answers fail on purpose, so that developers of clients can test
// how theirs behave. It depends on HTTP only, not on the meaning of requests.
package fault

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Header is the header in which a request lists faults, in the form that Parse reads. They replace
// the server's faults.
const Header = "Starling-Fault"

// Faults are the possible faults of a request. A request gets at most one of them, and a delay.
type Faults struct {
	Slow   time.Duration // before the request is answered
	chance [kinds]float64
}

// A kind is a fault that happens by chance.
type kind int

const (
	loseRequest kind = iota // the connection ends before the request is handled
	unavailable             // 503, and the request is not handled
	loseReply               // the request is handled, and the connection ends without a reply
	cut                     // the request is handled, and the connection ends within the reply's body
	kinds
	none = kinds
)

var names = [kinds]string{"lose-request", "5xx", "lose-reply", "cut"}

// mostSlow bounds the delay of a request.
const mostSlow = 10 * time.Minute

// rounding is how far a sum of chances such as 0.05, 0.55, 0.3 and 0.1 may be above 1.
const rounding = 1e-9

// Parse parses faults separated by commas, each with its chance from 0 to 1: lose-request, 5xx,
// lose-reply and cut, as well as slow with a duration. A chance that is left out is 1. The sum of
// the chances is at most 1. The empty string means no faults.
func Parse(text string) (f Faults, err error) {
	sum := 0.0
	for field := range strings.SplitSeq(text, ",") {
		name, value, valued := strings.Cut(strings.TrimSpace(field), "=")
		switch {
		case name == "" && !valued:
			continue
		case name == "slow":
			if f.Slow, err = time.ParseDuration(value); err != nil || f.Slow < 0 || f.Slow > mostSlow {
				return Faults{}, fmt.Errorf("fault %q: want slow with a duration of at most %v, such as slow=2s", field, mostSlow)
			}
			continue
		}
		k := kind(0)
		for k < kinds && names[k] != name {
			k++
		}
		if k == kinds {
			return Faults{}, fmt.Errorf("fault %q: want one of %s, slow", field, strings.Join(names[:], ", "))
		}
		chance := 1.0
		if valued {
			if chance, err = strconv.ParseFloat(value, 64); err != nil || !(chance >= 0 && chance <= 1) {
				return Faults{}, fmt.Errorf("fault %q: want a chance from 0 to 1, such as %s=0.1", field, name)
			}
		}
		f.chance[k] = chance
	}
	for _, c := range f.chance {
		sum += c
	}
	if sum > 1+rounding {
		return Faults{}, fmt.Errorf("faults %q: their chances add up to %s, want at most 1", text, decimal(sum))
	}
	return f, nil
}

// String writes faults in the form that Parse reads.
func (f Faults) String() string {
	var list []string
	for k, c := range f.chance {
		if c > 0 {
			list = append(list, names[k]+"="+decimal(c))
		}
	}
	if f.Slow > 0 {
		list = append(list, "slow="+f.Slow.String())
	}
	return strings.Join(list, ",")
}

// decimal writes a number without an exponent.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// pick chooses a fault by a number from 0 to 1.
func (f Faults) pick(x float64) kind {
	for k, c := range f.chance {
		if x -= c; x < 0 {
			return kind(k)
		}
	}
	return none
}

// Handler has requests that next answers meet faults. Which of them do depends on the seed and
// on the order in which they come.
func Handler(next http.Handler, f Faults, seed uint64, log *slog.Logger) http.Handler {
	var mu sync.Mutex
	dice := rand.New(rand.NewPCG(seed, 0))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		x := dice.Float64()
		mu.Unlock()
		f := f
		if own := r.Header.Values(Header); len(own) > 0 {
			var err error
			if f, err = Parse(strings.Join(own, ",")); err != nil {
				http.Error(w, Header+": "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		if f.Slow > 0 {
			select {
			case <-time.After(f.Slow):
			case <-r.Context().Done():
				return
			}
		}
		k := f.pick(x)
		if k == none {
			next.ServeHTTP(w, r)
			return
		}
		log.Info("fault on purpose", "fault", names[k], "method", r.Method, "path", r.URL.Path)
		if k == unavailable {
			http.Error(w, "this fault was asked for", http.StatusServiceUnavailable)
			return
		}
		if k != loseRequest {
			reply := &kept{header: w.Header(), code: http.StatusOK}
			next.ServeHTTP(reply, r)
			if k == cut {
				reply.half(w)
			}
		}
		panic(http.ErrAbortHandler) // which ends the connection
	})
}

// A kept reply has not been sent.
type kept struct {
	header http.Header
	code   int
	body   bytes.Buffer
	size   int64
}

// keptBytes is the number of bytes of a reply that are kept.
const keptBytes = 1 << 20

// Header implements http.ResponseWriter.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader implements http.ResponseWriter.
func (k *kept) WriteHeader(code int) { k.code = code }

// Write implements http.ResponseWriter.
func (k *kept) Write(b []byte) (int, error) {
	k.size += int64(len(b))
	k.body.Write(b[:min(len(b), keptBytes-k.body.Len())])
	return len(b), nil
}

// half sends the first half of a reply, or less if it is large.
func (k *kept) half(w http.ResponseWriter) {
	if k.size > 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(k.size, 10))
	}
	w.WriteHeader(k.code)
	_, _ = io.CopyN(w, &k.body, (k.size+1)/2)
	_ = http.NewResponseController(w).Flush()
}
