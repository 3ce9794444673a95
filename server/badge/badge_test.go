package badge_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/badge"
)

var ladder = badge.Ladder{2500, 10_000, 1_000_000}

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		total float64
		want  int64 // 0: none
	}{{0, 0}, {2499.99, 0}, {2500, 2500}, {9999, 2500}, {10_000, 10_000}, {5e9, 1_000_000}} {
		b := ladder.Of(tt.total)
		if b == nil && tt.want != 0 || b != nil && b.Credit != tt.want {
			t.Errorf("%v earns %+v, want %d", tt.total, b, tt.want)
		}
	}
	if b := badge.Ladder(nil).Of(1e9); b != nil {
		t.Errorf("without badges there is %+v", b)
	}
}

// A picture is XML that contains its title, whatever the rung, and the amount fits into the medal.
func TestSVG(t *testing.T) {
	for i, want := range []struct{ title, short string }{{"Credit of 2,500 or more", ">2.5k<"}, {"Credit of 10,000 or more", ">10k<"}, {"Credit of 1,000,000 or more", ">1M<"}} {
		b := ladder.All()[i]
		picture := string(b.SVG(words.English))
		if b.Title().String() != want.title || !strings.Contains(picture, `aria-label="`+want.title+`"`) || !strings.Contains(picture, want.short) {
			t.Errorf("%q is %s", b.Title(), picture)
		}
		d := xml.NewDecoder(strings.NewReader(picture))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, picture)
			}
		}
	}
	if top := (badge.Badge{Credit: 999_999_999_999, Rung: 40}); !strings.Contains(string(top.SVG(words.English)), ">999G<") {
		t.Errorf("far up: %s", top.SVG(words.English))
	}
}

func TestCheck(t *testing.T) {
	for _, wrong := range []badge.Ladder{{0}, {-1}, {10, 10}, {100, 10}} {
		if wrong.Check() == nil {
			t.Errorf("%v is a ladder", wrong)
		}
	}
	for _, right := range []badge.Ladder{nil, {1}, ladder} {
		if err := right.Check(); err != nil {
			t.Error(err)
		}
	}
}
