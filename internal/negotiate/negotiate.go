// Package negotiate answers requests in the language that their sender prefers.
package negotiate

import (
	"net/http"

	"github.com/starling-grid/starling/internal/words"
)

// Language returns a handler whose requests are answered in the language of their header
// Accept-Language, see words.LanguageOf.
func Language(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Language")
		if accept := r.Header.Get("Accept-Language"); accept != "" {
			r = r.WithContext(words.With(r.Context(), words.Preferred(accept)))
		}
		h.ServeHTTP(w, r)
	})
}
