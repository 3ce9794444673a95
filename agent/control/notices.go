package control

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// A Notice is what a project announced: an item of its news, or a message of its
// scheduler that wants attention.
type Notice struct {
	Seqno       int       `json:"seqno"`   // counts up as they come
	Project     string    `json:"project"` // master URL
	ProjectName string    `json:"project_name,omitempty"`
	Kind        string    `json:"kind"` // news or scheduler
	Title       string    `json:"title,omitempty"`
	Text        string    `json:"text,omitempty"` // plain text, in lines; left out in a Status but of a scheduler
	Link        string    `json:"link,omitempty"` // to what there is to read; http or https
	Time        time.Time `json:"time"`           // when it was written; or when it came, if that is not known
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
		answer(w, all, err)
	})
}

// Notices asks for what a project announced, or all of them for "", the newest first.
func (c *Client) Notices(ctx context.Context, masterURL string) (all []Notice, err error) {
	err = c.call(ctx, http.MethodGet, "notices?"+url.Values{"project": {masterURL}}.Encode(), nil, &all)
	return all, err
}
