package dashboard

import (
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// catalog sends the translations of the page's texts, for language.js.
func (s *Server) catalog(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	b := words.LanguageOf(r.Context()).Catalog("dashboard")
	if b == nil {
		b = []byte("{}")
	}
	_, _ = w.Write(b)
}

// pageText is a text of a page: between two tags, or the label of an element.
var pageText = regexp.MustCompile(`((?:>|aria-label=")\s*)([^<>"\s][^<>"]*?)(\s*[<"])`)

// writePage sends a page, which is in English, in the language of a request.
func writePage(w http.ResponseWriter, r *http.Request, status int, page string) {
	if l := words.LanguageOf(r.Context()); l != words.English {
		page = strings.Replace(page, `<html lang="en">`, `<html lang="`+string(l)+`">`, 1)
		page = pageText.ReplaceAllStringFunc(page, func(match string) string {
			parts := pageText.FindStringSubmatch(match)
			return parts[1] + html.EscapeString(words.T(html.UnescapeString(parts[2])).In(l)) + parts[3]
		})
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page))
}
