package control

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// An Editor changes the files that people edit, for users who may control the agent but cannot
// write its files: the files of a service belong to its own user.
type Editor interface {
	// Check reads the files that people may edit and returns everything that is wrong
	// with them.
	Check(ctx context.Context) error
	// PrefsFile returns the text of prefs.toml, or "" if it does not exist.
	PrefsFile(ctx context.Context) (string, error)
	// SetPrefsFile replaces prefs.toml. A text with errors is refused, and the errors are returned.
	SetPrefsFile(ctx context.Context, text string) error
	// SetPref overrides one preference of prefs.toml, as tools do. nil removes the override.
	SetPref(ctx context.Context, name string, value *float64) error
	// SetShare sets the resource share of a project. It returns settings.ErrNotAttached
	// for a project that is not.
	SetShare(ctx context.Context, masterURL string, share float64) error
}

// maxPrefsFile bounds the text of prefs.toml, in bytes.
const maxPrefsFile = 1 << 20

func editRoutes(mux *http.ServeMux, e Editor) {
	mux.HandleFunc("GET /v1/check", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, struct{}{}, e.Check(r.Context()))
	})
	mux.HandleFunc("GET /v1/prefs/file", show(e.PrefsFile))
	mux.HandleFunc("POST /v1/prefs/file", func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 3*maxPrefsFile) // as a form's field it is longer
		err := r.ParseForm()
		if err == nil {
			err = e.SetPrefsFile(r.Context(), r.PostFormValue("text"))
		}
		answer(w, r, struct{}{}, err)
	})
	mux.HandleFunc("POST /v1/prefs/set", func(w http.ResponseWriter, r *http.Request) {
		var value *float64
		if text := r.PostFormValue("value"); text != "" {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				answer(w, r, nil, err)
				return
			}
			value = &v
		}
		answer(w, r, struct{}{}, e.SetPref(r.Context(), r.PostFormValue("name"), value))
	})
	mux.HandleFunc("POST /v1/share", func(w http.ResponseWriter, r *http.Request) {
		share, err := strconv.ParseFloat(r.PostFormValue("share"), 64)
		if err == nil {
			err = e.SetShare(r.Context(), r.PostFormValue("project"), share)
		}
		answer(w, r, struct{}{}, err)
	})
}

// Check makes the agent read the files that people may edit. The error has all their faults.
func (c *Client) Check(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "check", nil, nil)
}

// PrefsFile requests the text of prefs.toml. It is "" if the file does not exist.
func (c *Client) PrefsFile(ctx context.Context) (string, error) {
	return get[string](ctx, c, "prefs/file")
}

// SetPrefsFile replaces prefs.toml, unless the text has errors.
func (c *Client) SetPrefsFile(ctx context.Context, text string) error {
	return c.call(ctx, http.MethodPost, "prefs/file", url.Values{"text": {text}}, nil)
}

// SetPref overrides one preference of prefs.toml. nil removes the override.
func (c *Client) SetPref(ctx context.Context, name string, value *float64) error {
	q := url.Values{"name": {name}}
	if value != nil {
		q.Set("value", strconv.FormatFloat(*value, 'g', -1, 64))
	}
	return c.call(ctx, http.MethodPost, "prefs/set", q, nil)
}

// SetShare sets the resource share of a project.
func (c *Client) SetShare(ctx context.Context, masterURL string, share float64) error {
	return c.call(ctx, http.MethodPost, "share", url.Values{"project": {masterURL}, "share": {strconv.FormatFloat(share, 'g', -1, 64)}}, nil)
}
