package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
)

// maxBody bounds what a page sends, in bytes.
const maxBody = 64 << 10

// read reads what a page sent; it answers itself when that is nothing sensible.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("invalid request: %w", err))
		return false
	}
	return true
}

// refuse says why not.
func refuse(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
}

// answer says how something went.
func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *Server) steerProject(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string                `json:"project"`
		Action  control.ProjectAction `json:"action"`
	}
	if read(w, r, &q) {
		answer(w, struct{}{}, s.Agent.SteerProject(r.Context(), q.Project, q.Action))
	}
}

func (s *Server) steerTask(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string             `json:"project"`
		Task    string             `json:"task"`
		Action  control.TaskAction `json:"action"`
	}
	if read(w, r, &q) {
		answer(w, struct{}{}, s.Agent.SteerTask(r.Context(), q.Project, q.Task, q.Action))
	}
}

func (s *Server) steerTransfer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string `json:"project"`
		File    string `json:"file"`
		Abort   bool   `json:"abort"`
	}
	if read(w, r, &q) {
		answer(w, struct{}{}, s.Agent.SteerTransfer(r.Context(), q.Project, q.File, q.Abort))
	}
}

func (s *Server) mode(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Network bool    `json:"network"`
		Mode    string  `json:"mode"`
		Minutes float64 `json:"minutes"` // 0: until changed
	}
	if !read(w, r, &q) {
		return
	}
	kind, err := control.ParseMode(q.Mode)
	if err == nil && !(q.Minutes >= 0 && q.Minutes <= 366*24*60) {
		err = fmt.Errorf("%v minutes: the duration must be between 0 and one year", q.Minutes)
	}
	if err == nil {
		what := control.Computing
		if q.Network {
			what = control.Network
		}
		err = s.Agent.SetMode(r.Context(), what, kind, time.Duration(q.Minutes*float64(time.Minute)))
	}
	answer(w, struct{}{}, err)
}

// attach takes the account's key, or its e-mail address and password, by which it
// asks the project for the key.
func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	var q struct {
		URL      string `json:"url"`
		Key      string `json:"key"`
		Email    string `json:"email"`
		Password string `json:"password"`
	}
	if !read(w, r, &q) {
		return
	}
	u, err := protocol.CanonicalMasterURL(q.URL)
	key := protocol.Authenticator(q.Key)
	if err == nil && key == "" {
		if q.Email == "" || q.Password == "" {
			err = errors.New("enter the e-mail address and password of your account, or its account key")
		} else {
			key, err = s.Agent.LookupAccount(r.Context(), u, q.Email, protocol.PasswordHash(q.Password, q.Email))
		}
	}
	if err == nil {
		err = s.Agent.Attach(r.Context(), u, key)
	}
	answer(w, map[string]string{"project": u}, err)
}

func (s *Server) detach(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Project string `json:"project"`
	}
	if read(w, r, &q) {
		answer(w, struct{}{}, s.Agent.Detach(r.Context(), q.Project))
	}
}
