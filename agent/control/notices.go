package control

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// A Notice is a project's announcement: an item of its news, or a message of its scheduler that
// needs attention.
type Notice struct {
	Seqno       int       `json:"seqno"`   // counts up as they come
	Project     string    `json:"project"` // master URL
	ProjectName string    `json:"project_name,omitempty"`
	Kind        string    `json:"kind"` // news or scheduler
	Title       string    `json:"title,omitempty"`
	Text        string    `json:"text,omitempty"` // plain text, in lines (in a Status only for messages of a scheduler)
	Link        string    `json:"link,omitempty"` // to further information, http or https
	Time        time.Time `json:"time"`           // when it was written, or received if that is unknown
	Arrived     time.Time `json:"arrived"`
}

// The kinds of notices.
const (
	News      = "news"
	Scheduler = "scheduler"
)

// A Noticer shows what projects announced.
type Noticer interface {
	// Notices returns the notices of a project, of all of them for "", the newest first.
	Notices(ctx context.Context, masterURL string) ([]Notice, error)
}

func noticeRoutes(mux *http.ServeMux, n Noticer) {
	mux.HandleFunc("GET /v1/notices", func(w http.ResponseWriter, r *http.Request) {
		all, err := n.Notices(r.Context(), r.URL.Query().Get("project"))
		answer(w, r, all, err)
	})
}

// Notices requests the announcements of a project, or of all projects for "", the newest first.
func (c *Client) Notices(ctx context.Context, masterURL string) ([]Notice, error) {
	return get[[]Notice](ctx, c, "notices?"+url.Values{"project": {masterURL}}.Encode())
}
