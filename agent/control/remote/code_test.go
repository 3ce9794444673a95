package remote

import (
	"errors"
	"testing"
	"time"
)

func TestCodesEnd(t *testing.T) {
	var p pending
	start := time.Unix(1e9, 0)
	never := func([]byte) bool { return false }
	always := func([]byte) bool { return true }
	if _, err := p.check(always, start); !errors.Is(err, errNoCode) {
		t.Errorf("before one is set: %v", err)
	}
	until := p.set([]byte("secret"), start)
	if got := until.Sub(start); got != 10*time.Minute {
		t.Errorf("it lasts %v", got)
	}
	if _, err := p.check(never, until.Add(-2)); !errors.Is(err, errWrongCode) {
		t.Errorf("a wrong one: %v", err)
	}
	if _, err := p.check(always, until); !errors.Is(err, errNoCode) {
		t.Errorf("when it has ended: %v", err)
	}
	if _, err := p.check(always, start); !errors.Is(err, errNoCode) {
		t.Errorf("when the clock is set back: %v", err)
	}
	p.set([]byte("first"), start)
	p.set([]byte("second"), start)
	if code, err := p.check(always, start); string(code) != "second" || err != nil {
		t.Errorf("the newer one: %q, %v", code, err)
	}
}

func TestCodesAreLongAndReadable(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		c := newCode()
		if b, err := parseCode(c); len(b) != codeBytes || err != nil || len(c) != 19 || seen[c] {
			t.Fatalf("%q: %x, %v", c, b, err)
		}
		seen[c] = true
	}
	a, errA := parseCode("O0I1-lL00-ABCD-EFGH")
	b, errB := parseCode("0011110 0abcdefgh")
	if string(a) != string(b) || errA != nil || errB != nil {
		t.Errorf("letters that look like digits: %x %v, %x %v", a, errA, b, errB)
	}
}

// A proof of one side, for one pair of certificates and one name, is not valid for another.
func TestProofsAreForOnePurpose(t *testing.T) {
	code := []byte("0123456789")
	seen := make(map[string]bool)
	for _, p := range [][]byte{
		proof(code, controller, "a", "b", "n"), proof(code, controlled, "a", "b", "n"), proof(code, controller, "b", "a", "n"),
		proof(code, controller, "a", "b", "m"), proof([]byte("1123456789"), controller, "a", "b", "n"),
	} {
		if seen[string(p)] || len(p) != 32 {
			t.Errorf("%x", p)
		}
		seen[string(p)] = true
	}
}
