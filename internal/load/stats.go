package load

import (
	"encoding/json"
	"math/bits"
	"time"
)

// A Latency is a distribution of durations, in classes of 1.6 percent. The zero Latency is empty.
type Latency struct {
	n       int64
	most    time.Duration
	classes []int64
}

const (
	exact = 128 // the range, in microseconds, in which each microsecond is a class
	fine  = exact / 2
)

// Add adds a duration.
func (l *Latency) Add(d time.Duration) {
	i := class(d)
	l.grow(i + 1)
	l.classes[i]++
	l.n++
	l.most = max(l.most, d)
}

func (l *Latency) grow(n int) {
	if n > len(l.classes) {
		l.classes = append(l.classes, make([]int64, n-len(l.classes))...)
	}
}

func class(d time.Duration) int {
	us := uint64(max(0, d.Microseconds()))
	if us < exact {
		return int(us)
	}
	shift := bits.Len64(us) - bits.Len64(exact-1)
	return exact + (shift-1)*fine + int(us>>shift) - fine //nolint:gosec // small
}

// middle returns the middle of a class.
func middle(class int) time.Duration {
	if class < exact {
		return time.Duration(class) * time.Microsecond
	}
	shift, rest := (class-exact)/fine+1, (class-exact)%fine
	low := time.Duration(fine+rest) << shift
	return (low + 1<<shift/2) * time.Microsecond
}

// Quantile returns the duration that the fraction q of all durations, 0 to 1, did not exceed.
// Without any it returns 0.
func (l Latency) Quantile(q float64) time.Duration {
	if l.n == 0 {
		return 0
	}
	rank, seen := min(int64(q*float64(l.n)), l.n-1), int64(0)
	for i, n := range l.classes {
		if seen += n; seen > rank {
			return min(middle(i), l.most)
		}
	}
	return l.most
}

func (l *Latency) merge(o *Latency) {
	l.grow(len(o.classes))
	for i, n := range o.classes {
		l.classes[i] += n
	}
	l.n += o.n
	l.most = max(l.most, o.most)
}

// MarshalJSON writes the quantiles, in milliseconds.
func (l Latency) MarshalJSON() ([]byte, error) {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return json.Marshal(struct {
		Median float64 `json:"median_ms"`
		P99    float64 `json:"p99_ms"`
		Most   float64 `json:"max_ms"`
	}{ms(l.Quantile(0.5)), ms(l.Quantile(0.99)), ms(l.most)})
}

// Counts are the counts of a phase.
type Counts struct {
	Seconds    float64          `json:"seconds"`
	Requests   int64            `json:"requests"` // requests that got a reply
	Bytes      int64            `json:"request_bytes"`
	Dispatched int64            `json:"dispatched"`
	Resent     int64            `json:"resent"`
	Reported   int64            `json:"reported"` // tasks whose report was acknowledged
	Uploaded   int64            `json:"uploaded"` // number of files
	Refused    map[string]int64 `json:"refused"`  // requests for work that brought none, by reason
	Errors     map[string]int64 `json:"errors"`   // requests and uploads without a proper reply
	Latency    Latency          `json:"latency"`
	Uploads    Latency          `json:"upload_latency"`
}

// maxReasons is the maximum number of different texts that are counted separately.
const maxReasons = 50

func count(m *map[string]int64, key string, n int64) {
	if *m == nil {
		*m = make(map[string]int64)
	}
	if _, known := (*m)[key]; !known && len(*m) >= maxReasons {
		key = "other"
	}
	(*m)[key] += n
}

func (c *Counts) add(t Turn) {
	c.Dispatched += int64(t.Dispatched)
	c.Resent += int64(t.Resent)
	c.Reported += int64(t.Reported)
	for _, why := range t.Refused {
		count(&c.Refused, why, 1)
	}
}

func (c *Counts) merge(o *Counts) {
	c.Requests += o.Requests
	c.Bytes += o.Bytes
	c.Dispatched += o.Dispatched
	c.Resent += o.Resent
	c.Reported += o.Reported
	c.Uploaded += o.Uploaded
	for why, n := range o.Refused {
		count(&c.Refused, why, n)
	}
	for what, n := range o.Errors {
		count(&c.Errors, what, n)
	}
	c.Latency.merge(&o.Latency)
	c.Uploads.merge(&o.Uploads)
}
