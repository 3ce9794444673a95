package pages

import (
	"embed"
	"fmt"
	"html/template"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/badge"
	"github.com/starling-grid/starling/server/store"
)

//go:embed html
var pageFiles embed.FS

// templates returns the pages by language. They are parsed once, when the first page is written. The functions
// of each copy write in its language.
var templates = sync.OnceValue(func() map[words.Language]*template.Template {
	english := template.Must(template.New("").Funcs(functions(words.English)).ParseFS(pageFiles, "html/*.html"))
	all := make(map[words.Language]*template.Template)
	for _, l := range words.Languages() {
		all[l] = template.Must(english.Clone()).Funcs(functions(l))
	}
	return all
})

// functions are the functions of the pages in a language. t and mark translate sentences that are written
// in a page. text translates sentences in a page's data.
func functions(l words.Language) template.FuncMap {
	in := func(t words.Text) string { return t.In(l) }
	return template.FuncMap{
		"language": func() words.Language { return l },
		"t":        func(english string, values ...any) string { return in(words.T(english, values...)) },
		"mark":     func(english string, values ...any) template.HTML { return mark(l, english, values) },
		"link":     link,
		"code":     code,
		"text":     in,
		"when":     func(t time.Time) string { return in(when(t)) },
		"day":      func(t time.Time) string { return in(words.Day(t.UTC())) },
		"date":     func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
		"ago":      func(day time.Time) string { return in(ago(day, time.Now().UTC())) },
		"device":   func(c store.Coproc) string { return in(device(c)) },
		"called":   func(h store.Host) string { return in(called(h)) },
		"label":    func(name string) string { return in(label(name)) },
		"medal":    func(b *badge.Badge) template.HTML { return b.SVG(l) },
		"count":    func(n any) string { return in(count(n)) },
		"number":   func(v float64) string { return in(number(v)) },
		"bytes":    func(n float64) string { return in(words.Bytes(n)) },
		"rank":     func(i int) int { return i + 1 },
		"span":     func(seconds float64) string { return words.Span(protocol.Seconds(seconds)) },

		"decimal": func(v any) string { return strings.Replace(fmt.Sprint(v), ".", decimalPoint(l), 1) },
		"seconds": func(n int64) float64 { return float64(n) },
	}
}

// mark returns a sentence as HTML. Values that are HTML, such as a link, stay as they are. The sentence
// and its other values are escaped.
func mark(l words.Language, english string, values []any) template.HTML {
	var html []string
	for i := 1; i < len(values); i += 2 {
		if h, ok := values[i].(template.HTML); ok {
			place := string(rune(0xE000 + i)) // a private character in its place until the rest is escaped
			html = append(html, place, string(h))
			values[i] = place
		}
	}
	text := template.HTMLEscapeString(words.T(english, values...).In(l))
	return template.HTML(strings.NewReplacer(html...).Replace(text)) //nolint:gosec // escaped
}

// link returns a link as HTML.
func link(href, text string) template.HTML {
	return template.HTML(`<a href="` + template.HTMLEscapeString(href) + `">` + template.HTMLEscapeString(text) + "</a>") //nolint:gosec // escaped
}

// code returns a command or an address as HTML. A line does not end within a flag.
func code(text string) template.HTML {
	parts := strings.Split(template.HTMLEscapeString(text), " ")
	for i, w := range parts {
		if strings.HasPrefix(w, "-") {
			parts[i] = `<span class="flag">` + w + "</span>"
		}
	}
	return template.HTML("<code>" + strings.Join(parts, " ") + "</code>") //nolint:gosec // escaped
}
