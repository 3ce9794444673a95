package protocol

import (
	"math"
	"time"

	"github.com/starling-grid/starling/protocol/bxml"
)

// maxList bounds every list that a peer can make long. Real messages stay far below it. Further
// entries are dropped, which only costs a hostile peer its own data.
const maxList = 100_000

// Maximum lengths of a peer's texts, in bytes. Columns of BOINC's database have 254 for a text and
// 64 KiB for a blob.
const (
	maxText     = 254
	maxProse    = 4 << 10 // messages for people
	maxFeatures = 8 << 10 // of a processor's features: BOINC's p_features
	maxLong     = 1 << 10 // of names: longer than all valid ones
	maxURL      = 8 << 10
	maxKey      = 16 << 10 // keys and signatures
	maxBlob     = 64 << 10
)

// Maximum numbers of entries of a scheduler request that are accepted, in addition to maxList for
// all lists. Results beyond the limit are not acknowledged and are sent again.
const (
	maxReports     = 10_000
	maxFiles       = 20_000 // of the host and of all reported results together
	maxAppVersions = 1_000
	maxPlatforms   = 16
)

// Bounds on the needs that a peer may claim for a task, so that sums of them do not overflow.
const (
	maxCPUs  = 10_000
	maxFpops = 1e30
	maxBytes = 1 << 62
)

// usualMessage is a usual length of a scheduler's request or reply, in bytes.
const usualMessage = 4 << 10

// maxClasses bounds the plan classes of one platform.
const maxClasses = 1000

// maxSeconds bounds durations read from a peer, so that none overflows.
const maxSeconds = 100 * 365 * 86400

func scanInt(s *bxml.Scanner, v *int) {
	n := int64(*v)
	s.Int(&n)
	*v = int(max(math.MinInt32, min(n, math.MaxInt32)))
}

// scanBytes reads a size, which some peers print as a float.
func scanBytes(s *bxml.Scanner, v *int64) {
	f := float64(*v)
	s.Float(&f)
	*v = int64(max(0, min(f, 1<<62)))
}

func scanSpan(s *bxml.Scanner, v *time.Duration) {
	f := v.Seconds()
	s.Float(&f)
	*v = Seconds(f)
}

func scanTime(s *bxml.Scanner, v *time.Time) {
	var f float64
	s.Float(&f)
	*v = UnixTime(f)
}

// Seconds turns BOINC's float seconds into a duration, bounded to ±100 years.
func Seconds(f float64) time.Duration {
	if math.IsNaN(f) {
		return 0
	}
	f = max(-maxSeconds, min(f, maxSeconds))
	return time.Duration(f * float64(time.Second))
}

// UnixTime turns BOINC's float time into a time. 0 and less is the zero time.
func UnixTime(f float64) time.Time {
	if !(f > 0) {
		return time.Time{}
	}
	f = min(f, 221845392000) // the year 9000: a year with five digits, in any time zone, cannot be stored
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(frac*1e9))
}

// UnixSeconds is the inverse of UnixTime.
func UnixSeconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

func appendTo[T any](list []T, v T) []T {
	if len(list) >= maxList {
		return list
	}
	return append(list, v)
}
