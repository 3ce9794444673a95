// Package workgen makes workunits from input files, BOINC's templates and the operator's settings
// for replication and limits. Invalid values are refused with the reason before anything is stored.
//
// The package does not make results. The transitioner does that, from the output template that is
// parsed here.
package workgen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// A Spec asks for one workunit.
type Spec struct {
	Params
	Inputs []Given
	Sticky bool // input files stay on the host
	Await  bool // staged files that are not there yet are waited for

	Host int64  // the computer that it is for (0: any)
	User string // e-mail address of the account whose computers it is for ("": any)
	// AwaitHosts: the account may have no computer yet.
	AwaitHosts bool
	Team       string // name or number of the team whose members' computers it is for ("": any)

	TokenID     int64 // with which it is submitted (0: none)
	OwnPriority int64 // as in store.Workunit

	Predecessor string // name of the workunit that it follows ("": none)
	// After are the names of workunits that must have a canonical result first, in addition to
	// those whose outputs are Inputs. If one of them is given up, so is this workunit.
	After []string
}

// Given is an input file as the operator gives it.
type Given struct {
	Path    string           // on this machine, or for the other kinds its name in the project
	Content func() io.Reader // Local: yields the file, which Path only names (nil: it is at Path)
	Logical string           // the name under which the application opens it ("": the template's, or the file's)
	Base    string           // the file's original name ("": as in Path or the remote's URL)
	Kind    Kind
	Remote  Remote // Elsewhere, if the template does not set it
	Of      string // OutputOf: the name of the workunit
	Counted bool   // among the files of the workunit's token, if the project stores it
	Keep    bool   // the file stays when no workunit needs it any more, as with the template's no_delete

	placed *protocol.FileInfo // Content, once it is in download/
}

// A Kind is the source of an input file.
type Kind int

const (
	Local     Kind = 0 // from Path, put into download/ under a name made from its content
	Staged    Kind = 1 // in download/ under this name
	Generated Kind = 2 // made on the host, by an earlier task there
	Elsewhere Kind = 3 // on other servers
	OutputOf  Kind = 4 // the output Path of the workunit Of, of the same application ("": its only one)
)

// A Generator makes workunits of one application. A Generator is not safe for concurrent use, but
// several may be used concurrently.
type Generator struct {
	store    *store.Store
	download Files
	app      store.App
	input    *Input   // nil: no template
	output   string   // file name of the output template, below the project
	outputs  []string // names of a result's output files
	uploads  int64    // bytes that a result's output files have at most
	prefix   string
	made     int
	// Guard is called in each transaction that makes workunits, before they are made, and Check after that,
	// unless they are nil. Their error ends the transaction. They are set before Create.
	Guard, Check func(tx *store.Tx) error

	staged map[string]staged
	packed map[string]int64 // size of the compressed copies of files, by their names (0: none)

	freshMu sync.Mutex
	fresh   []string // names of files that were put into download/
}

// Files is a tree of files, see blob.Tree.
type Files interface {
	Size(ctx context.Context, name string) (int64, error)
	Sum(ctx context.Context, name string) (blob.Info, error)
	Put(ctx context.Context, name string, r io.Reader) (blob.Info, error)
	Open(ctx context.Context, name string) (*blob.File, error)
	Remove(ctx context.Context, name string) error
}

// New prepares to make workunits of app. It reads the templates in the project's
// directory: templates/<app>_out must be there, templates/<app>_in may be.
func New(st *store.Store, download Files, dir string, app store.App, now time.Time) (*Generator, error) {
	g := &Generator{
		store: st, download: download, app: app,
		output: "templates/" + app.Name + "_out",
		prefix: app.Name + "_" + strconv.FormatInt(now.UnixNano(), 36),
		staged: make(map[string]staged), packed: make(map[string]int64),
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(g.output)))
	if err != nil {
		return nil, fmt.Errorf("output template: %w", err)
	}
	if err := CheckOutput(g.output, string(text)); err != nil {
		return nil, err
	}
	if err := CheckNames(g.output, string(text), app.Assimilator); err != nil {
		return nil, err
	}
	if g.uploads, g.outputs, err = uploads(string(text)); err != nil {
		return nil, err
	}
	in := "templates/" + app.Name + "_in"
	text, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(in)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("input template: %w", err)
	default:
		if g.input, err = ParseInput(in, string(text)); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// A SpecError identifies the requested workunit that cannot be made.
type SpecError struct {
	Index int
	Err   error
}

func (e *SpecError) Error() string { return e.Err.Error() }

func (e *SpecError) Unwrap() error { return e.Err }

// prepared is a workunit that only has to be inserted.
type prepared struct {
	row        store.Workunit
	files      []protocol.FileInfo
	from       []Given
	awaited    []string // names of files that are not there yet
	after      string   // name of the predecessor
	outputs    []output
	host       int64  // that it is for (0: any)
	user       string // whose hosts it is for ("": any)
	awaitHosts bool
	team       string // whose members' computers it is for ("": any)
}

// Create makes the workunits, all or none, and returns their names. For many,
// call it with a thousand at a time.
func (g *Generator) Create(ctx context.Context, specs []Spec, now time.Time) ([]string, error) {
	if err := g.placeAll(ctx, specs); err != nil {
		return nil, err
	}
	list := make([]prepared, 0, len(specs))
	names := make([]string, 0, len(specs))
	for i, spec := range specs {
		p, err := g.prepare(ctx, spec, now)
		if err != nil {
			return nil, &SpecError{Index: i, Err: err}
		}
		list = append(list, p)
		names = append(names, p.row.Name)
	}
	err := g.store.Update(ctx, func(tx *store.Tx) error {
		tx.SetCause(now, "operator", "work create")
		// The file deleter takes the same lock, so the files that are here now stay for this
		// workunit.
		if err := tx.LockFiles(); err != nil {
			return err
		}
		if g.Guard != nil {
			if err := g.Guard(tx); err != nil {
				return err
			}
		}
		checked := make(map[string]bool)
		done := 0
		for _, group := range groups(list) {
			for _, p := range group {
				if err := g.there(ctx, p, checked); err != nil {
					return err
				}
			}
			if err := insert(tx, group, now); err != nil {
				if at, ok := errors.AsType[*SpecError](err); ok {
					at.Index += done
				}
				return err
			}
			done += len(group)
		}
		if g.Check != nil {
			return g.Check(tx)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}

// Params returns the parameters of a workunit requested with p, completed from the template and the
// defaults, or an error if it cannot be made.
func (g *Generator) Params(p Params) (Params, error) {
	if g.input != nil {
		for _, set := range g.input.apply { // as in BOINC, the template overrides the command line
			set(&p)
		}
	}
	return p.Complete()
}

// Uploads returns the maximum size of a result's output files in bytes.
func (g *Generator) Uploads() int64 { return g.uploads }

func (g *Generator) prepare(ctx context.Context, spec Spec, now time.Time) (prepared, error) {
	params, err := g.Params(spec.Params)
	if err != nil {
		return prepared{}, err
	}
	if params.Name == "" {
		params.Name = g.prefix + "_" + strconv.Itoa(g.made)
		g.made++
	}
	outputs, err := g.takeOutputs(&spec)
	if err != nil {
		return prepared{}, err
	}
	files, err := g.match(ctx, spec)
	if err != nil {
		return prepared{}, err
	}
	if err := spec.target(params); err != nil {
		return prepared{}, err
	}
	if spec.Sticky && len(files) == 0 {
		return prepared{}, errors.New("--sticky keeps input files on the computer, but the workunit has none: add --input, or leave out --sticky")
	}
	p := prepared{after: spec.Predecessor, outputs: outputs, host: spec.Host, user: spec.User, awaitHosts: spec.AwaitHosts, team: spec.Team, row: store.Workunit{
		CreateTime: now, AppID: g.app.ID, Name: params.Name, Batch: params.Batch, Priority: params.Priority,
		TokenID: spec.TokenID, OwnPriority: spec.OwnPriority,
		RscFpopsEst: params.RscFpopsEst, RscFpopsBound: params.RscFpopsBound,
		RscMemoryBound: params.RscMemoryBound, RscDiskBound: params.RscDiskBound, DelayBound: params.Delay(),
		RscBandwidthBound: params.RscBandwidthBound, Credit: params.Credit,
		MinQuorum: params.MinQuorum, TargetNResults: params.TargetNResults,
		MaxErrorResults: params.MaxErrorResults, MaxTotalResults: params.MaxTotalResults,
		MaxSuccessResults: params.MaxSuccessResults, ResultTemplateFile: g.output, TransitionTime: now,
	}}
	wu := protocol.Workunit{
		Name: params.Name, AppName: g.app.Name, CommandLine: params.CommandLine,
		RscFpopsEst: params.RscFpopsEst, RscFpopsBound: params.RscFpopsBound,
		RscMemoryBound: params.RscMemoryBound, RscDiskBound: params.RscDiskBound,
	}
	var doc strings.Builder
	seen := make(map[string]bool)
	for _, f := range files {
		wu.FileRefs = append(wu.FileRefs, f.ref)
		if seen[f.info.Name] {
			continue // the same content under two logical names
		}
		seen[f.info.Name] = true
		f.info.Sticky = f.info.Sticky || spec.Sticky
		if f.awaited && f.from.Kind != OutputOf {
			p.awaited = append(p.awaited, f.info.Name)
			p.row.Awaiting = true
		}
		doc.WriteString(f.info.XML())
		p.files = append(p.files, f.info)
		p.from = append(p.from, f.from)
	}
	if len(outputs) > 0 {
		p.row.Awaiting = true
	}
	doc.WriteString(wu.XML())
	p.row.XMLDoc = doc.String()
	return p, nil
}

// used is an input file in its place with the use a workunit makes of it.
type used struct {
	info protocol.FileInfo
	ref  protocol.FileRef
	from Given

	awaited bool // it is not there yet
}

// match joins the given files with the template and puts them into download/.
func (g *Generator) match(ctx context.Context, spec Spec) ([]used, error) {
	given := spec.Inputs
	var out []used
	logical := make(map[string]bool)
	add := func(info protocol.FileInfo, ref protocol.FileRef, from Given) error {
		ref.FileName = info.Name
		info.NoDelete = info.NoDelete || from.Keep
		if err := protocol.ValidFileName(ref.Logical()); err != nil {
			return fmt.Errorf("input file %s: %w", from.Path, err)
		}
		if logical[ref.Logical()] {
			return fmt.Errorf("two input files have the logical name %s", ref.Logical())
		}
		logical[ref.Logical()] = true
		away := !info.GeneratedLocally && len(info.DownloadURLs) == 0 && info.MD5 == ""
		out = append(out, used{info, ref, from, away})
		return nil
	}
	if g.input == nil {
		for _, from := range given {
			info, err := g.find(ctx, from, spec.Await)
			if err != nil {
				return nil, err
			}
			name := from.Logical
			if name == "" {
				name = filepath.Base(cmp.Or(from.Base, from.Path, from.Remote.base()))
			}
			if err := add(info, protocol.FileRef{OpenName: name}, from); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	rest, err := g.input.inOrder(given)
	if err != nil {
		return nil, err
	}
	for _, f := range g.input.Files {
		var from Given
		info, err := protocol.FileInfo{}, error(nil)
		switch {
		case f.Physical != "":
			info, err = g.find(ctx, Given{Path: f.Physical, Kind: f.kind()}, false)
		case len(rest) == 0:
			return nil, words.Refuse(words.T("{n} input files are given; the input template needs more", "n", len(given)))
		default:
			from, rest = rest[0], rest[1:]
			if k := f.kind(); k != Staged {
				from.Kind, from.Remote = k, Remote{}
			}
			info, err = g.find(ctx, from, spec.Await)
		}
		if err != nil {
			return nil, err
		}
		if f.Info.MD5 != "" { // elsewhere
			info.DownloadURLs, info.NBytes, info.MD5 = f.Info.DownloadURLs, f.Info.NBytes, f.Info.MD5
		}
		info.Sticky, info.NoDelete = f.Info.Sticky, f.Info.NoDelete
		if f.Gzip && info.MD5 != "" { // one that is awaited stays as it comes
			if err := g.pack(ctx, &info); err != nil {
				return nil, err
			}
		}
		ref := f.Ref
		if from.Logical != "" {
			ref.OpenName = from.Logical
		}
		if err := add(info, ref, from); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		return nil, words.Refuse(words.T("{n} input files are given; the input template needs {needed}", "n", len(given), "needed", len(given)-len(rest)))
	}
	return out, nil
}

// find describes an input file. With await a staged file that is not there yet is
// described without size and checksum.
func (g *Generator) find(ctx context.Context, from Given, await bool) (protocol.FileInfo, error) {
	if from.Kind == Local {
		return g.stage(ctx, from)
	}
	if from.Kind == OutputOf {
		return protocol.FileInfo{Name: outputName(from.Of, from.Path)}, nil
	}
	if from.Kind == Elsewhere && from.Remote != (Remote{}) {
		return from.Remote.info()
	}
	if from.Content != nil {
		return protocol.FileInfo{}, words.Refuse(words.T("the content of an input file is given, but by the input template computers make the file or other servers store it: give its name, with starling-server work create"))
	}
	if err := protocol.ValidFileName(from.Path); err != nil {
		return protocol.FileInfo{}, fmt.Errorf("input file: %w", err)
	}
	if from.Kind != Staged {
		return protocol.FileInfo{Name: from.Path, GeneratedLocally: from.Kind == Generated}, nil
	}
	sum, err := g.download.Sum(ctx, from.Path)
	switch {
	case await && errors.Is(err, fs.ErrNotExist):
		return protocol.FileInfo{Name: from.Path}, nil
	case errors.Is(err, fs.ErrNotExist):
		return protocol.FileInfo{}, fmt.Errorf("input file %s is not in download/: put it there with starling-server file stage, or let the workunit wait for it with --await-inputs: %w", from.Path, err)
	case err != nil:
		return protocol.FileInfo{}, fmt.Errorf("input file %s: %w", from.Path, err)
	}
	return protocol.FileInfo{Name: from.Path, NBytes: sum.NBytes, MD5: sum.MD5}, nil
}
