// Package server is a volunteer-computing project: a directory with settings,
// keys, files and a database, and the programs that keep its work moving.
//
// It joins the parts below it and runs them in one process. Several processes
// may have one project open: operators add work while the server runs. What a
// volunteer's computer does is none of its business, and it shares no package
// with the agent but protocol.
package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/assimilator"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/credit"
	"github.com/starling-grid/starling/server/doctor"
	"github.com/starling-grid/starling/server/feeder"
	"github.com/starling-grid/starling/server/filedeleter"
	"github.com/starling-grid/starling/server/hook"
	"github.com/starling-grid/starling/server/limit"
	"github.com/starling-grid/starling/server/match"
	"github.com/starling-grid/starling/server/purger"
	"github.com/starling-grid/starling/server/scheduler"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/transitioner"
	"github.com/starling-grid/starling/server/trickler"
	"github.com/starling-grid/starling/server/upload"
	"github.com/starling-grid/starling/server/validator"
	"github.com/starling-grid/starling/server/web"
	"github.com/starling-grid/starling/server/workgen"
)

// Files and folders of a project's directory.
const (
	databaseFile = "project.db"
	keysDir      = "keys"
	downloadDir  = "download"
	uploadDir    = "upload"
	templatesDir = "templates"
	resultsDir   = "results"
	archiveDir   = "archive"
)

// fresh is how long what was read of the work that can be sent is handed out.
const fresh = 100 * time.Millisecond

// A Project is an open project directory. It is safe for concurrent use.
type Project struct {
	Dir      string
	Config   Config
	Store    *store.Store
	Download blob.Tree
	Upload   blob.Tree

	part      Part
	log       *slog.Logger
	uploadKey *protocol.PrivateKey
	codeSign  *protocol.PublicKey
	oldKeys   []scheduler.OldKey

	mu      sync.Mutex
	outputs map[string]template // output templates, by file name
}

type template struct {
	modified time.Time
	output   *workgen.Output
}

// Open opens the project in dir. It returns an error that says what to do if the
// database is gone, empty or another project's. The caller closes it.
func Open(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, false)
}

// Adopt is Open for an operator who has decided that the database that is there is to
// be this project's, whatever it was before. One that is gone or empty is made anew.
func Adopt(ctx context.Context, dir string, log *slog.Logger) (*Project, error) {
	return open(ctx, dir, log, true)
}

func open(ctx context.Context, dir string, log *slog.Logger, adopt bool) (*Project, error) {
	c, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir, Config: c, log: log, outputs: make(map[string]template)}
	if err := p.readKeys(); err != nil {
		return nil, err
	}
	if err := p.open(ctx, adopt); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Project) open(ctx context.Context, adopt bool) (err error) {
	if p.Download, err = p.tree(ctx, downloadDir); err != nil {
		return err
	}
	if p.Upload, err = p.tree(ctx, uploadDir); err != nil {
		return err
	}
	return p.openDatabase(ctx, adopt)
}

// tree opens the files of one kind.
func (p *Project) tree(ctx context.Context, name string) (blob.Tree, error) {
	local := filepath.Join(p.Dir, name)
	if p.Config.Files != "" {
		b, err := blob.OpenBucket(ctx, p.Config.Files, name, local)
		if err != nil {
			return nil, err
		}
		return b, nil
	}
	d, err := blob.Open(local)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Doctor returns what examines the project.
func (p *Project) Doctor() *doctor.Project {
	return &doctor.Project{Store: p.Store, Download: p.Download, Upload: p.Upload, CodeSign: p.codeSign}
}

// Close closes database and files.
func (p *Project) Close() error {
	var errs []error
	if p.Store != nil {
		errs = append(errs, p.Store.Close())
	}
	for _, d := range []blob.Tree{p.Download, p.Upload} {
		if d != nil {
			errs = append(errs, d.Close())
		}
	}
	return errors.Join(errs...)
}

func (p *Project) readKeys() error {
	read := func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join(p.Dir, keysDir, name))
		return string(b), err
	}
	text, err := read("upload_private")
	if err != nil {
		return err
	}
	if p.uploadKey, err = protocol.ParsePrivateKey(text); err != nil {
		return fmt.Errorf("upload_private: %w", err)
	}
	if text, err = read("code_sign_public"); err != nil {
		return err
	}
	if p.codeSign, err = protocol.ParsePublicKey(text); err != nil {
		return fmt.Errorf("code_sign_public: %w", err)
	}
	if p.rotating() {
		return nil // signatures may be of either key
	}
	p.oldKeys = nil
	// As in BOINC: old_key_0, old_key_1, … and what each of them signed.
	for n := 0; ; n++ {
		old, err := read("old_key_" + strconv.Itoa(n))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		sig, err2 := read("signature_" + strconv.Itoa(n))
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if err := protocol.AcceptNewKey(old, p.codeSign.Text(), sig); err != nil {
			return fmt.Errorf("signature_%d: %w", n, err)
		}
		p.oldKeys = append(p.oldKeys, scheduler.OldKey{Text: old, Signature: sig})
	}
}

// Handler returns what answers HTTP requests below the project's URL. reported
// is called when results were taken in.
func (p *Project) Handler(reported func()) (http.Handler, error) {
	if p.rotating() {
		return nil, errors.New("a rotation of the code signing key was begun and not ended: run starling-server key rotate")
	}
	c := p.Config
	least, err := coreVersion(c.MinCoreVersion)
	if err != nil {
		return nil, err
	}
	post, err := p.post()
	if err != nil {
		return nil, err
	}
	var own func(id int64) bool
	if p.part.Shard.Count > 1 {
		own = p.part.Shard.Has
	}
	secret := sha256.Sum256([]byte("web sessions\x00" + p.uploadKey.Text()))
	proxies, err := limit.ParseProxies(c.proxies())
	if err != nil {
		return nil, err
	}
	readers, err := limit.ParseProxies(c.MetricsAllow)
	if err != nil {
		return nil, err
	}
	site := &web.Site{
		Limits: web.Limits{
			Proxies: proxies, RequestsPerAddress: c.MaxRequestsPerAddress, AccountsPerDay: c.MaxAccountsPerAddressDay,
			Pace:           limit.Pace{Window: window, Bytes: int64(c.MinTransferRate * window.Seconds())},
			WrongPasswords: c.MaxWrongPasswords, Metrics: readers, MetricsToken: c.MetricsToken,
		},
		Secret: secret[:], Mail: post,
		Serves: p.part.has,
		Name:   c.LongName, MasterURL: c.MasterURL, CreationDisabled: c.DisableAccountCreation,
		MinPasswordLength: c.MinPasswdLength, Store: p.Store, Log: p.log.With("part", "web"), Download: p.Download,
		Scheduler: &scheduler.Scheduler{
			Store: p.Store.Shard(p.part.Shard), Log: p.log.With("part", "scheduler"), Reported: reported, Uploaded: p.uploaded,
			Feeder: feeder.Feeder{Fresh: fresh, Own: own},
			Bodies: limit.Bodies{Total: int64(c.MaxRequestMB * 1e6), PerAddress: int64(c.MaxRequestMBPerAddress * 1e6)},
			Config: scheduler.Config{
				Name: c.LongName, MasterURL: c.MasterURL,
				DownloadURL: c.MasterURL + "download/", UploadURL: c.MasterURL + "file_upload_handler",
				CodeSignKey: p.codeSign.Text(), OldKeys: p.oldKeys,
				MinCoreVersion:      least,
				MinSendworkInterval: protocol.Seconds(c.MinSendworkInterval),
				NextRPCDelay:        protocol.Seconds(c.NextRPCDelay),
				MaxWusToSend:        c.MaxWusToSend, MaxWusInProgress: c.MaxWusInProgress,
				DailyResultQuota: c.DailyResultQuota, MaxNCPUs: c.MaxNCPUs, MaxInfeasible: c.MaxInfeasible,
				MaxHostsPerDay:        c.MaxHostsPerUserDay,
				OneResultPerUserPerWU: c.OneResultPerUserPerWU, OneResultPerHostPerWU: c.OneResultPerHostPerWU,
				ResendLostResults: c.ResendLostResults, SendResultAbort: c.SendResultAbort,
				PlanClasses: c.PlanClass,
				Urgent: match.Urgent{
					OnPriority: c.ReliableOnPriority, MaxAvgTurnaround: protocol.Seconds(c.ReliableMaxAvgTurnaround),
					MaxErrorRate: c.ReliableMaxErrorRate, ReducedDelayBound: c.ReliableReducedDelayBound,
				},
			},
		},
		Upload: &upload.Handler{Files: p.Upload, Key: p.uploadKey.Public(), Log: p.log.With("part", "upload")},
	}
	return site.Handler()
}

// A daemon handles what waits for it in one pass and returns how much it did.
type daemon struct {
	name string
	pass func(ctx context.Context, now time.Time) (int, error)
}

// daemons returns those that keep work moving in this process, in the order in
// which a workunit meets them.
func (p *Project) daemons() []daemon {
	st := p.Store.Shard(p.part.Shard)
	t := &transitioner.Transitioner{
		Store: st, Log: p.log.With("part", "transitioner"), Describe: p.describeResult,
		DeleteDelay: protocol.Seconds(p.Config.DeleteDelayHours * 3600),
		Affinity:    protocol.Seconds(p.Config.AffinityHours * 3600),

		PriorityOnOver: p.Config.ReliablePriorityOnOver,
	}
	v := &validator.Validator{
		Store: st, Log: p.log.With("part", "validator"), Checker: p.checker, Credit: p.creditPolicy,
		DailyQuota: p.Config.DailyResultQuota,
	}
	a := &assimilator.Assimilator{Store: st, Log: p.log.With("part", "assimilator"), Handler: p.assimilation}
	m := &trickler.Trickler{Store: st, Log: p.log.With("part", "trickler"), Handler: p.trickle}
	d := &filedeleter.Deleter{
		Store: st, Log: p.log.With("part", "file_deleter"), Download: p.Download, Upload: p.Upload,
	}
	g := &purger.Purger{
		Store: st, Log: p.log.With("part", "purger"), Dir: filepath.Join(p.Dir, archiveDir), Upload: p.Upload,
		After: protocol.Seconds(p.Config.PurgeAfterDays * 86400),
	}
	rel := &transitioner.Releaser{Store: st, Log: p.log.With("part", "releaser"), Files: p.Download}
	all := []daemon{
		{"transitioner", func(ctx context.Context, now time.Time) (int, error) {
			n, err := rel.Pass(ctx, now)
			if err != nil {
				return n, err
			}
			m, err := t.Pass(ctx, now)
			return n + m, err
		}},
		{"validator", v.Pass},
		{"assimilator", a.Pass},
		{"trickler", m.Pass},
		{"filedeleter", d.Pass},
		{"purger", g.Pass},
	}
	return slices.DeleteFunc(all, func(d daemon) bool { return !p.part.has(d.name) })
}

// describeResult makes the description of a new result from the workunit's
// output template.
func (p *Project) describeResult(wu store.Workunit, result string, random int64) (string, error) {
	o, err := p.output(wu.ResultTemplateFile)
	if err != nil {
		return "", err
	}
	return o.Expand(result, wu.Name, random, p.uploadKey)
}

// output returns an output template, read again when the file has changed.
func (p *Project) output(name string) (*workgen.Output, error) {
	path := filepath.Join(p.Dir, filepath.FromSlash(name))
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("output template: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.outputs[name]; ok && t.modified.Equal(st.ModTime()) {
		return t.output, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("output template: %w", err)
	}
	o, err := workgen.ParseOutput(name, string(text))
	if err != nil {
		return nil, err
	}
	p.outputs[name] = template{st.ModTime(), o}
	return o, nil
}

func (p *Project) checker(appID int64) (validator.Checker, error) {
	app, err := p.app(appID)
	if err != nil {
		return nil, err
	}
	return validator.New(app.Validator, validator.Env{Dir: p.Dir, App: app.Name, Files: p.Upload})
}

// creditPolicy returns how an application rewards results.
func (p *Project) creditPolicy(appID int64) (credit.Policy, error) {
	app, err := p.app(appID)
	if err != nil {
		return credit.Policy{}, err
	}
	return credit.Parse(app.Credit)
}

func (p *Project) assimilation(appID int64) (assimilator.Handler, error) {
	app, err := p.app(appID)
	if err != nil {
		return nil, err
	}
	return p.newHandler(app)
}

// newHandler returns the assimilator that an application names.
func (p *Project) newHandler(app store.App) (assimilator.Handler, error) {
	if app.Assimilator == "copy" {
		return &assimilator.Copy{Dir: filepath.Join(p.Dir, resultsDir), Files: p.Upload, App: app.Name}, nil
	}
	text, ok := strings.CutPrefix(app.Assimilator, hook.Prefix)
	if !ok {
		return nil, fmt.Errorf("assimilator %q: want copy or exec:CMD", app.Assimilator)
	}
	cmd, err := hook.Parse(text, p.Dir)
	if err != nil {
		return nil, fmt.Errorf("assimilator: %w", err)
	}
	return assimilator.Program{Command: cmd, App: app.Name, Files: p.Upload}, nil
}

func (p *Project) app(id int64) (store.App, error) {
	var apps []store.App
	err := p.Store.View(context.Background(), func(tx *store.Tx) (err error) {
		apps, err = tx.Apps()
		return err
	})
	if err != nil {
		return store.App{}, err
	}
	for _, a := range apps {
		if a.ID == id {
			return a, nil
		}
	}
	return store.App{}, fmt.Errorf("app %d: %w", id, store.ErrNotFound)
}
