package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
	"github.com/starling-grid/starling/server/admin"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/upload"
	"github.com/starling-grid/starling/server/web"
	"github.com/starling-grid/starling/server/web/account"
	"github.com/starling-grid/starling/server/web/articles"
)

// fresh is the maximum age at which data about available work is reused.
const fresh = 100 * time.Millisecond

// Handler returns the handler for HTTP requests below the project's URL. reported is called after
// results were reported.
func (s *Server) Handler(reported func()) (http.Handler, error) {
	public, _, err := s.Handlers(reported)
	return public, err
}

// Handlers is like Handler, and also returns the handler for the operator's requests, see
// admin.Desk. Both look at the same requests, so they belong together.
func (s *Server) Handlers(reported func()) (public, private http.Handler, err error) {
	site, err := s.site(reported)
	if err != nil {
		return nil, nil, err
	}
	if public, err = site.Handler(); err != nil {
		return nil, nil, err
	}
	if public, err = former(s.Config.MasterURL, s.Config.FormerURLs, public); err != nil {
		return nil, nil, err
	}
	readers, err := limit.ParseProxies(s.Config.MetricsAllow)
	if err != nil {
		return nil, nil, err
	}
	desk := &admin.Desk{
		Ready: s.ready, Metrics: site.Metrics(), Client: site.Limits.Forwarding.Client, Allowed: readers.Contain,
		Settings: s.Config.Operator, Hosts: s.hosts(), Log: s.Log.With("part", "admin"), Console: s.Console,
	}
	return public, desk.Handler(), nil
}

// hosts returns the host names in the operator's requests that are accepted, as far as they follow
// from settings.
func (s *Server) hosts() (names []string) {
	if u, err := url.Parse(s.Config.MasterURL); err == nil {
		names = append(names, strings.ToLower(u.Hostname()))
	}
	if host, _, err := net.SplitHostPort(s.Config.AdminListen); err == nil {
		names = append(names, strings.ToLower(host))
	}
	return names
}

// Routes returns the limits on the bodies of requests, by the patterns of all paths below the
// project's URL.
func (s *Server) Routes() (map[string]limit.Bound, error) {
	site, err := s.site(func() {})
	if err != nil {
		return nil, err
	}
	if _, err := site.Handler(); err != nil {
		return nil, err
	}
	return site.Routes(), nil
}

// ready returns why the project cannot be served just now, nil if it can.
func (s *Server) ready(ctx context.Context) error {
	err := s.Store.View(ctx, func(tx *store.View) error {
		_, err := tx.Identity()
		return err
	})
	if err != nil {
		return fmt.Errorf("database: %w", err)
	}
	if s.Config.Files != "" {
		if err := blob.Reach(ctx, s.Config.Files); err != nil {
			return fmt.Errorf("files: %w", err)
		}
		return nil
	}
	for _, name := range []string{project.DownloadDir, project.UploadDir} {
		if dir := filepath.Join(s.Dir, name); !blob.Made(dir) {
			return fmt.Errorf("%s is missing or empty: mount its disk and restart the server", dir)
		}
	}
	if err := blob.Writable(filepath.Join(s.Dir, project.UploadDir)); err != nil {
		return fmt.Errorf("files: %w; free some space or make the folder writable, and the server continues", err)
	}
	return nil
}

func (s *Server) site(reported func()) (*web.Site, error) {
	if s.Rotating() {
		return nil, errors.New("a rotation of the code signing key was interrupted: run starling-server key rotate to finish it")
	}
	c := s.Config
	post, err := s.Post()
	if err != nil {
		return nil, err
	}
	secret := sha256.Sum256([]byte("web sessions\x00" + s.UploadKey().Text()))
	proxies, err := limit.ParseProxies(c.Proxies())
	if err != nil {
		return nil, err
	}
	s.disk.Set(c.MaxSpoolMB.Bytes(), c.MaxSpoolMB.Bytes()/2)
	perAddress := 0
	if c.MaxConnectionsPerAddress > 0 { // the others are for its requests
		perAddress = max(1, c.MaxConnectionsPerAddress/2)
	}
	s.room.Set(c.MaxWaitingHosts, perAddress)
	sched := &scheduler.Scheduler{
		Store: s.Store.Shard(s.part.Shard), Log: s.Log.With("part", "scheduler"), Reported: reported, Uploaded: s.Uploaded, Certify: s.Certifier().Certify,
		Feeder: feeder.Feeder{Fresh: fresh, Shard: s.front.shard},
		Bodies: s.memory, Idle: s.room,
		Config: scheduler.Config{
			Name: c.LongName, MasterURL: c.MasterURL,
			DownloadURL: c.MasterURL + "download/", Mirrors: c.DownloadURLs, UploadURL: c.MasterURL + "file_upload_handler", EventsURL: c.MasterURL + "work_events",
			GUIURLs: guiURLs(c.MasterURL), Feeds: []protocol.Feed{{URL: c.MasterURL + "news.xml", Poll: 24 * time.Hour}}, ConfirmEmail: c.ConfirmEmail,
			CodeSignKey: s.CodeSign().Text(), OldKeys: s.OldKeys(),
			Settings: c.Scheduling, Affinity: c.Affinity,
		},
	}
	return &web.Site{
		Limits: web.Limits{
			Forwarding: limit.Forwarding{Proxies: proxies, Header: c.ForwardedHeader}, RequestsPerAddress: c.MaxRequestsPerAddress,
			Pace: limit.Pace{Window: window, Bytes: int64(minRate * window.Seconds())},
		},
		Accounts: account.Rules{MasterURL: c.MasterURL, Secret: secret[:], Settings: c.Accounts},
		Serves:   s.part.has, Roles: slices.DeleteFunc(slices.Clone(Roles), func(r string) bool { return !s.part.has(r) }),
		Name: c.LongName, Schedulers: c.Schedulers(), Mail: post, Articles: articles.Folder(filepath.Join(s.Dir, project.SiteDir)), Stats: filepath.Join(s.Dir, project.StatsDir), Badges: c.Badges, Once: c.Once, Store: s.Store, Log: s.Log.With("part", "web"), Download: s.Download,
		Scheduler: sched, Events: s.room.Handler(sched.Admit),
		API:    programs(s.api()),
		Upload: &upload.Handler{Files: s.Upload, Certifier: s.Certifier(), Log: s.Log.With("part", "upload")},
	}, nil
}

// programs returns the routes for programs that submit work.
func programs(a *api.API) map[string]limit.Route {
	routes := a.Routes()
	maps.Copy(routes, a.BOINCRoutes())
	return routes
}

func (s *Server) api() *api.API {
	c := s.Config
	return &api.API{
		Store: s.Store, Log: s.Log.With("part", "api"), Dir: s.Dir, Download: s.Download, Settings: c.Submission,
		Rules: &c.Rules, Key: s.UploadKey().Text(),
		Memory: s.memory, Spool: api.Spool{Dir: filepath.Join(s.Dir, project.IncomingDir), Room: s.disk},
		Outcome: func(wu store.Workunit) string {
			return assimilator.Folder(filepath.Join(s.Dir, project.ResultsDir), c.ResultsFolders, wu)
		},
		Discard: func(prefix string) (int, error) {
			return assimilator.Discard(filepath.Join(s.Dir, project.ResultsDir), prefix)
		},
	}
}

// guiURLs are the links to a project's pages that clients show.
func guiURLs(master string) string {
	var w bxml.Writer
	for _, l := range []struct{ name, about, page string }{
		{"Your account", "What you have contributed", "account"},
		{"Your computers", "Your computers and their tasks", "computers"},
		{"Preferences", "What your computers do for this project", "preferences"},
		{"News", "News of the project", "news"},
		{"Leaderboards", "The volunteers, computers and teams with the most credit", "leaders"},
	} {
		w.Open("gui_url")
		w.Text("name", l.name)
		w.Text("description", l.about)
		w.Text("url", master+l.page)
		w.Close("gui_url")
	}
	return string(w.Bytes())
}
