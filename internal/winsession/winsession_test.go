package winsession_test

import (
	"encoding/binary"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/starling-grid/starling/internal/winsession"
)

var now = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// said lays out Windows' description of a session by hand.
func said(state uint32, user string, left, input time.Time) []byte {
	b := make([]byte, 216)
	binary.LittleEndian.PutUint32(b, state)
	for i, c := range utf16.Encode([]rune(user)) {
		binary.LittleEndian.PutUint16(b[130+2*i:], c)
	}
	for at, t := range map[int]time.Time{184: left, 192: input, 208: now} {
		if !t.IsZero() {
			binary.LittleEndian.PutUint64(b[at:], uint64(t.Sub(time.Unix(0, 0))/100)+116444736000000000)
		}
	}
	return b
}

func TestIdle(t *testing.T) {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	never := time.Time{}
	for _, tt := range []struct {
		name     string
		sessions [][]byte
		want     time.Duration
		known    bool
	}{
		{"nobody is logged on", [][]byte{said(0, "", never, never), said(1, "", never, ago(time.Minute))}, 5 * time.Hour, true},
		{"somebody at the screen", [][]byte{said(0, "kim", never, ago(20*time.Second))}, 20 * time.Second, true},
		{"somebody at the screen, and Windows does not say since when not", [][]byte{said(0, "kim", never, never)}, 0, false},
		{"by Remote Desktop, and the screen not known", [][]byte{said(0, "kim", never, never), said(0, "ann", never, ago(time.Hour))}, time.Hour, true},
		{"the last of several counts", [][]byte{said(0, "kim", never, ago(2*time.Hour)), said(0, "ann", never, ago(time.Minute))}, time.Minute, true},
		{"disconnected", [][]byte{said(4, "kim", ago(10*time.Minute), never)}, 10 * time.Minute, true},
		{"disconnected after the last input", [][]byte{said(4, "kim", ago(10*time.Minute), ago(30*time.Minute))}, 10 * time.Minute, true},
		{"connected again after that", [][]byte{said(0, "kim", ago(10*time.Minute), ago(time.Hour))}, time.Hour, true},
		{"input in the future", [][]byte{said(0, "kim", never, ago(-time.Minute))}, 0, true},
	} {
		var all []winsession.Session
		for _, b := range tt.sessions {
			s, err := winsession.Parse(b)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, s)
		}
		if got, known := winsession.Idle(all, 5*time.Hour); got != tt.want || known != tt.known {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, got, known, tt.want, tt.known)
		}
	}
}

func TestParse(t *testing.T) {
	s, err := winsession.Parse(said(4, "ann", now.Add(-time.Hour), now.Add(-2*time.Hour)))
	if want := (winsession.Session{State: winsession.Disconnected, User: true, Left: now.Add(-time.Hour), Input: now.Add(-2 * time.Hour), Now: now}); err != nil || s != want {
		t.Errorf("got %+v, %v, want %+v", s, err, want)
	}
	for _, b := range [][]byte{nil, make([]byte, 215)} {
		if _, err := winsession.Parse(b); err == nil {
			t.Errorf("%d bytes were understood", len(b))
		}
	}
}
