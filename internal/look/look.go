// Package look is what the agent's dashboard and a project's pages have in common: one
// style sheet with the colours, light and dark, and the look of text, tables and forms; and
// an icon.
package look

import (
	_ "embed"
	"net/http"
	"strings"
	"time"
)

//go:embed base.css
var base string

//go:embed icon.svg
var icon string

// Base serves the style sheet.
func Base(w http.ResponseWriter, r *http.Request) { serve(w, r, "text/css; charset=utf-8", base) }

// Icon serves the icon.
func Icon(w http.ResponseWriter, r *http.Request) { serve(w, r, "image/svg+xml", icon) }

func serve(w http.ResponseWriter, r *http.Request, kind, content string) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "max-age=3600")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
}
