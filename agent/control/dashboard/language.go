package dashboard

import (
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// languageOf returns the language of a page that a browser asks for.
func languageOf(r *http.Request) words.Language {
	return words.Preferred(r.Header.Get("Accept-Language"))
}

// catalog sends the translations of the page's texts, for language.js.
func (s *Server) catalog(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Accept-Language")
	w.Header().Set("Content-Type", "application/json")
	b := languageOf(r).Catalog("dashboard")
	if b == nil {
		b = []byte("{}")
	}
	_, _ = w.Write(b) //nolint:gosec // it is part of the binary
}

// pageText is a text of a page: between two tags, or the label of an element.
var pageText = regexp.MustCompile(`((?:>|aria-label=")\s*)([^<>"\s][^<>"]*?)(\s*[<"])`)

// writePage sends a page, which is in English, in the language that the browser asks for.
func writePage(w http.ResponseWriter, r *http.Request, status int, page string) {
	if l := languageOf(r); l != words.English {
		page = strings.Replace(page, `<html lang="en">`, `<html lang="`+string(l)+`">`, 1)
		page = pageText.ReplaceAllStringFunc(page, func(match string) string {
			parts := pageText.FindStringSubmatch(match)
			return parts[1] + html.EscapeString(words.T(html.UnescapeString(parts[2])).In(l)) + parts[3]
		})
	}
	w.Header().Set("Vary", "Accept-Language")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page)) //nolint:gosec // it has nothing of the request
}
