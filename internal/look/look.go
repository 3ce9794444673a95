// Package look is what the agent's dashboard and a project's pages have in common: one
// style sheet with the colours, light and dark, and the look of text, tables and forms.
package look

import (
	_ "embed"
	"net/http"
	"strings"
	"time"
)

//go:embed base.css
var base string

// Base serves the style sheet.
func Base(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeContent(w, r, "base.css", time.Time{}, strings.NewReader(base))
}
