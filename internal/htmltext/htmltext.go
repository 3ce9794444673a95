// Package htmltext makes plain text of HTML that strangers wrote, for terminals and for
// pages that show texts only.
package htmltext

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/starling-grid/starling/protocol/bxml"
)

// Text returns the words that a reader of the HTML sees, with a line for each paragraph and item. A
// link's address follows its text if they differ. Scripts and styles are left out. The text is safe
// on a terminal and has at most most bytes. Text without markup changes only in its white space.
func Text(source string, most int) string {
	w := writer{}
	for t := html.NewTokenizer(strings.NewReader(bxml.Printable(source, len(source)))); ; {
		switch t.Next() {
		case html.ErrorToken: // the end
			return bxml.Printable(strings.TrimSpace(w.b.String()), most)
		case html.TextToken:
			if w.silent == 0 {
				w.text(string(t.Text()))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(t.Token())
		case html.EndTagToken:
			w.end(t.Token().DataAtom)
		}
	}
}

// Title returns a text on one line with HTML's character references resolved, such as the title of
// a feed. Apparent markup stays as text.
func Title(source string, most int) string {
	return bxml.Printable(strings.Join(strings.Fields(html.UnescapeString(source)), " "), most)
}

// A writer puts words together.
type writer struct {
	b      strings.Builder
	lines  int       // breaks that are due before the next word
	space  bool      // white space is due before it
	silent atom.Atom // the element whose content is left out, 0 if none
	href   string    // of the link that is open
	from   int       // where its text starts
}

// text writes words, and a single space for each run of white space.
func (w *writer) text(s string) {
	for i, word := range strings.Fields(s) {
		if i > 0 || strings.ContainsAny(s[:1], " \t\r\n\f") {
			w.space = true
		}
		w.word(word)
	}
	if s != "" && strings.TrimRight(s, " \t\r\n\f") != s {
		w.space = true
	}
}

func (w *writer) word(s string) {
	switch {
	case w.b.Len() == 0:
	case w.lines > 0:
		w.b.WriteString(strings.Repeat("\n", w.lines))
	case w.space:
		w.b.WriteByte(' ')
	}
	w.lines, w.space = 0, false
	w.b.WriteString(s)
}

// line starts a new line, after so many breaks.
func (w *writer) line(breaks int) { w.lines = max(w.lines, breaks) }

func (w *writer) start(t html.Token) {
	switch t.DataAtom {
	case atom.Script, atom.Style, atom.Title, atom.Template, atom.Iframe, atom.Noscript:
		if t.Type == html.StartTagToken {
			w.silent = t.DataAtom
		}
	case atom.Br, atom.Tr, atom.Div, atom.Hr:
		w.line(1)
	case atom.Li:
		w.line(1)
		w.word("•")
		w.space = true
	case atom.Td, atom.Th:
		w.space = true
	case atom.Img:
		for _, a := range t.Attr {
			if a.Key == "alt" {
				w.text(a.Val)
			}
		}
	case atom.A:
		w.href, w.from = "", w.b.Len()
		for _, a := range t.Attr {
			if a.Key == "href" && isWeb(a.Val) {
				w.href = a.Val
			}
		}
	default:
		w.block(t.DataAtom)
	}
}

func (w *writer) end(a atom.Atom) {
	if a == w.silent {
		w.silent = 0
	}
	switch a {
	case atom.A:
		text := w.b.String()[min(w.from, w.b.Len()):]
		if w.href != "" && !strings.Contains(text, w.href) {
			w.space = w.b.Len() > 0
			w.word("(" + w.href + ")")
		}
		w.href = ""
	case atom.Li, atom.Div, atom.Tr:
		w.line(1)
	default:
		w.block(a)
	}
}

// block starts a paragraph before or after an element that is one.
func (w *writer) block(a atom.Atom) {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Table, atom.Blockquote, atom.Pre:
		w.line(2)
	}
}

func isWeb(address string) bool {
	address = strings.ToLower(address)
	return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
}
