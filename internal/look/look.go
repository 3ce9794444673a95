// Package look has the common look of the agent's dashboard, a project's pages and the operator's
// pages. It consists of a style sheet with the colors, light and dark, and the style of text,
// tables and forms, an icon, and functions by which templates write numbers.
package look

import (
	_ "embed"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
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

// Count is words.Number for templates: of an int, int64 or float64, which is rounded.
func Count(n any) string {
	switch n := n.(type) {
	case int:
		return words.Number(int64(n)).String()
	case int64:
		return words.Number(n).String()
	case float64:
		return words.Number(int64(math.Round(n))).String()
	}
	return fmt.Sprint(n)
}
