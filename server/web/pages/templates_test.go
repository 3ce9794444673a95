package pages

import (
	"html/template"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

// Only the parts of a sentence that are HTML are not escaped.
func TestMark(t *testing.T) {
	t.Parallel()
	values := []any{"name", "<i>", "link", link(`"x`, "<b>")}
	want := template.HTML(`&lt;p&gt; &lt;i&gt; <a href="&#34;x">&lt;b&gt;</a>`)
	if got := mark(words.English, "<p> {name} {link}", values); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Numbers and dates have the form of their language.
func TestNumbersInGerman(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]words.Text{"1.234.567": number(1_234_567), "12,30": number(12.3), "-0,01": number(-0.01), "1.000": count(1000), "Computer 7": called(store.Host{ID: 7}), "24.11.2026": words.Day(day), "24.11.2026 09:05": when(day), "nie": when(time.Time{}), "24. Nov.": ago(day, day.AddDate(0, 0, 8)), "24. Nov. 2026": ago(day, day.AddDate(1, 0, 0))} {
		if got := text.In("de"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

var day = time.Date(2026, 11, 24, 9, 5, 0, 0, time.UTC)
