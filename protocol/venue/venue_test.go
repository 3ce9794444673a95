package venue_test

import (
	"testing"

	"github.com/starling-grid/starling/protocol/venue"
)

const prefs = "<mod_time>5</mod_time>\n<venue name=\"home\">\n<share>1</share>\n</venue>\n<share>2</share>\n"

func TestSets(t *testing.T) {
	s := venue.Split(prefs)
	for at, want := range map[string]string{"home": "<share>1</share>\n", "work": s.All, "": "<mod_time>5</mod_time>\n<share>2</share>\n"} {
		if got := s.For(at); got != want {
			t.Errorf("%q: got %q, want %q", at, got, want)
		}
	}
	before := s.String()
	s.Set("work", "<share>3</share>\n")
	s.Set("home", "<share>4</share>\n")
	s.Set("", "<share>5</share>\n")
	if want := "<share>5</share>\n<venue name=\"home\">\n<share>4</share>\n</venue>\n<venue name=\"work\">\n<share>3</share>\n</venue>\n"; s.String() != want {
		t.Errorf("set: %q, want %q", s.String(), want)
	}
	s.Drop("home")
	if _, own := s.Own("home"); own || s.For("home") != "<share>5</share>\n" {
		t.Errorf("dropped: %q", s.String())
	}
	if again := venue.Split(before).String(); again != before {
		t.Errorf("%q becomes %q", before, again)
	}
}

// Unreadable parts of preferences do not destroy the readable ones.
func TestBroken(t *testing.T) {
	for _, text := range []string{"", "<", "</p>", "<a>", "<a>1</a><b", "<venue name=\"x\">"} {
		s := venue.Split(text)
		if again := venue.Split(s.String()).String(); again != s.String() {
			t.Errorf("%q: %q becomes %q", text, s.String(), again)
		}
	}
}
