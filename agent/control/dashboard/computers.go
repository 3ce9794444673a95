package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// Computers are the other computers that the agent is paired with as their controller. Its methods
// may be called concurrently. Errors are sentences for people.
type Computers interface {
	Paired() ([]control.Paired, error)
	// Client returns a client for the agent at the address of one of them.
	Client(address string) (*control.Client, error)
	// Pair adds the computer at an address by the code that it shows.
	Pair(ctx context.Context, address, code string) error
	Forget(address string) error
}

const (
	askTime      = 10 * time.Second // until a computer counts as out of reach
	maxComputers = 1000             // that a page names at once
)

func (s *Server) computerRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/computers", s.computers)
	mux.HandleFunc("GET /api/computers/status", s.computer)
	mux.HandleFunc("POST /api/computers/pair", s.pairComputer)
	mux.HandleFunc("POST /api/computers/forget", s.forgetComputer)
	mux.HandleFunc("POST /api/computers/mode", s.computersMode)
	mux.HandleFunc("POST /api/computers/attach", s.computersAttach)
}

var errNoComputers = words.Refuse(words.T("this dashboard shows this computer only"))

// computers lists the addresses of the others.
func (s *Server) computers(w http.ResponseWriter, r *http.Request) {
	list := []string{}
	if s.Computers == nil {
		answer(w, r, list, nil)
		return
	}
	all, err := s.Computers.Paired()
	for _, c := range all {
		list = append(list, c.Name)
	}
	answer(w, r, list, err)
}

// A computerView is the page's data about a computer.
type computerView struct {
	Tasks   int            `json:"tasks"`
	Running int            `json:"running"`
	For     []string       `json:"for"`    // the projects of running tasks, by name
	Status  control.Status `json:"status"` // of tasks only those that will be late
}

// computer answers with a computer's activities. The address "" is this one. If the computer does not
// answer, which is normal for one that is switched off, the error has the code "away".
func (s *Server) computer(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	a, err := s.at(r.FormValue("address"))
	var v control.Status
	if err == nil {
		v, err = a.Status(ctx)
	}
	if _, unreachable := errors.AsType[*net.OpError](err); err != nil && (unreachable || ctx.Err() != nil) {
		refuseAs(w, r, "away", sysfault.Text(inTime(ctx, err)))
		return
	}
	answer(w, r, summary(v), err)
}

// inTime returns the error of a request to a computer, for which there was askTime.
func inTime(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return words.Refuse(words.T("no answer within {span}", "span", words.Span(askTime)))
	}
	return err
}

// summary leaves out data that the page does not show: ten thousand tasks are some megabytes.
func summary(s control.Status) computerView {
	v := computerView{Tasks: len(s.Tasks), For: []string{}, Status: s}
	names, busy := make(map[string]string), make(map[string]bool)
	for _, p := range s.Projects {
		names[p.MasterURL] = cmp.Or(p.Name, p.MasterURL)
	}
	v.Status.Tasks, v.Status.Transfers, v.Status.Notices = []control.Task{}, []control.Xfer{}, nil
	for _, t := range s.Tasks {
		if t.Running {
			v.Running++
			if name := cmp.Or(names[t.Project], t.Project); name != "" && !busy[name] {
				busy[name] = true
				v.For = append(v.For, name)
			}
		}
		if t.Late > 0 {
			v.Status.Tasks = append(v.Status.Tasks, t)
		}
	}
	slices.Sort(v.For)
	return v
}

// An elsewhere is an agent on some computer.
type elsewhere interface {
	Status(ctx context.Context) (control.Status, error)
	control.Attacher
	control.Historian
	control.ModeSetter
}

// here is the agent whose page this is, as one of all.
type here struct{ Agent }

// Status shows what there is to see.
func (h here) Status(ctx context.Context) (control.Status, error) {
	v, err := h.Dashboard(ctx)
	return v.Status, err
}

// at returns the agent of a computer. "" is this one.
func (s *Server) at(address string) (elsewhere, error) {
	switch {
	case address == "":
		return here{s.Agent}, nil
	case s.Computers == nil:
		return nil, errNoComputers
	}
	return s.Computers.Client(address)
}

// onEach does something on computers, all at once, and answers with what went wrong where.
func (s *Server) onEach(w http.ResponseWriter, r *http.Request, addresses []string, do func(context.Context, elsewhere) error) {
	if len(addresses) == 0 || len(addresses) > maxComputers {
		control.Refuse(w, r, http.StatusBadRequest, words.Refuse(words.T("{n} computers: between 1 and {most} can be named", "n", len(addresses), "most", maxComputers)))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askTime)
	defer cancel()
	failed := make(map[string]string)
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, address := range addresses {
		all.Go(func() {
			a, err := s.at(address)
			if err == nil {
				err = do(ctx, a)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[address] = sysfault.Text(err).In(words.LanguageOf(ctx))
			}
		})
	}
	all.Wait()
	answer(w, r, map[string]any{"failed": failed}, nil)
}

// computersMode sets the mode of computing until it is changed.
func (s *Server) computersMode(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Addresses []string `json:"addresses"`
		Mode      string   `json:"mode"`
	}
	if !read(w, r, &q) {
		return
	}
	kind, err := control.ParseMode(q.Mode)
	if err != nil {
		control.Refuse(w, r, http.StatusBadRequest, err)
		return
	}
	s.onEach(w, r, q.Addresses, func(ctx context.Context, a elsewhere) error { return a.SetMode(ctx, control.Computing, kind, 0) })
}

// computersAttach attaches a project by one account on computers. This one asks the project for the
// account's key. The password is not sent to any other computer.
func (s *Server) computersAttach(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Addresses []string `json:"addresses"`
		attachment
	}
	if !read(w, r, &q) {
		return
	}
	u, err := settings.MasterURL(q.URL)
	key := protocol.Authenticator(q.Key)
	if err == nil && key == "" {
		key, err = s.account(r.Context(), u, q.attachment)
	}
	if err != nil {
		refuseAccount(w, r, err)
		return
	}
	s.onEach(w, r, q.Addresses, func(ctx context.Context, a elsewhere) error { return a.Attach(ctx, u, key) })
}

func (s *Server) pairComputer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Address string `json:"address"`
		Code    string `json:"code"`
	}
	if !read(w, r, &q) {
		return
	}
	err := errNoComputers
	if s.Computers != nil {
		err = s.Computers.Pair(r.Context(), q.Address, q.Code)
	}
	answer(w, r, struct{}{}, err)
}

func (s *Server) forgetComputer(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Address string `json:"address"`
	}
	if !read(w, r, &q) {
		return
	}
	err := errNoComputers
	if s.Computers != nil {
		err = s.Computers.Forget(q.Address)
	}
	answer(w, r, struct{}{}, err)
}
