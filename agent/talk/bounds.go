package talk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// bounded cuts a reply down to the amount that one project may bring (workfetch.MaxHeld and so on),
// in the order in which it was sent. It also returns a text for people about the parts that were
// left out, or "" if there are none. Known items always count.
func bounded(db *state.DB, project string, r protocol.SchedulerReply) (protocol.SchedulerReply, string) {
	b := bounder{db: db, project: project}
	r.Results = slices.DeleteFunc(slices.Clone(r.Results), func(v protocol.Result) bool { return b.sprawls("task", v.Name, v.FileRefs) })
	r.Workunits = slices.DeleteFunc(slices.Clone(r.Workunits), func(v protocol.Workunit) bool { return b.sprawls("workunit", v.Name, v.FileRefs) })
	r.AppVersions = slices.DeleteFunc(slices.Clone(r.AppVersions), func(v protocol.AppVersion) bool { return b.sprawls("application version", v.AppName, v.FileRefs) })
	r.Messages = r.Messages[:min(len(r.Messages), workfetch.MaxMessages)]
	r.TrickleDowns = r.TrickleDowns[:min(len(r.TrickleDowns), workfetch.MaxMessages)]
	r.Apps = slices.DeleteFunc(slices.Clone(r.Apps), func(v protocol.App) bool { return b.sprawls("application", v.Name, nil) })
	r.Apps = b.apps(r.Apps)
	r.AppVersions = b.versions(r.AppVersions)
	r.Results = b.results(r.Results)
	r.Workunits = b.workunits(r.Workunits, r.Results)
	r.Files = b.files(r.Files, needed(r))
	if len(b.notices) > 0 {
		b.notices = append(b.notices, "This notice stays until a reply from the project is within the limits. If it persists, inform the project.")
	}
	return r, strings.Join(b.notices, " ")
}

type bounder struct {
	db      *state.DB
	project string
	notices []string
}

func (b *bounder) notice(format string, args ...any) {
	b.notices = append(b.notices, fmt.Sprintf(format, args...))
}

// sprawls reports whether something has too long a name or refers to too many files
// to be taken.
func (b *bounder) sprawls(what, name string, refs []protocol.FileRef) bool {
	if len(name) <= workfetch.MaxName && len(refs) <= workfetch.MaxRefs {
		return false
	}
	switch {
	case len(b.notices) > 0: // one of these notices is enough
	case len(name) > workfetch.MaxName:
		b.notice("The %s %.60q…, and possibly others, was rejected: its name has %d bytes, and the limit is %d.", what, name, len(name), workfetch.MaxName)
	default:
		b.notice("The %s %.100q, and possibly others, was rejected: it refers to %d files, and the limit is %d.", what, name, len(refs), workfetch.MaxRefs)
	}
	return true
}

// room returns the number of further records of the project that a table may contain.
func room[V any](t *state.Table[V], project string, most int) int {
	for range t.Of(project) {
		most--
	}
	return max(0, most)
}

// taken returns the items of list that are known, and as many of the others as there is room for.
func taken[T any](list []T, room int, known func(T) bool) (kept []T) {
	for _, v := range list {
		if !known(v) {
			if room == 0 {
				continue
			}
			room--
		}
		kept = append(kept, v)
	}
	return kept
}

func (b *bounder) results(sent []protocol.Result) []protocol.Result {
	held := room(&b.db.Results, b.project, workfetch.MaxHeld)
	kept := taken(sent, min(held, workfetch.MaxAtOnce), func(r protocol.Result) bool {
		_, known := b.db.Results.Get(state.Key(b.project, r.Name))
		return known
	})
	switch left := len(sent) - len(kept); {
	case left == 0:
	case held < workfetch.MaxAtOnce:
		b.notice("The project sent %d tasks, of which %d were rejected: the limit per project is %d. The project can send them again once some are reported.",
			len(sent), left, workfetch.MaxHeld)
	default:
		b.notice("The project sent %d tasks, of which %d were rejected: the limit per reply is %d. The project can send them again later, or to other computers.",
			len(sent), left, workfetch.MaxAtOnce)
	}
	return kept
}

// workunits returns the workunits that belong to the results.
func (b *bounder) workunits(sent []protocol.Workunit, results []protocol.Result) (kept []protocol.Workunit) {
	of := make(map[string]bool, len(results))
	for _, r := range results {
		of[r.WorkunitName] = true
	}
	for _, u := range sent {
		if of[u.Name] {
			delete(of, u.Name)
			kept = append(kept, u)
		}
	}
	return kept
}

func (b *bounder) apps(sent []protocol.App) []protocol.App {
	kept := taken(sent, room(&b.db.Apps, b.project, workfetch.MaxVersions), func(a protocol.App) bool {
		_, known := b.db.Apps.Get(state.Key(b.project, a.Name))
		return known
	})
	if n := len(sent) - len(kept); n > 0 {
		b.notice("Applications rejected: %d. The limit per project is %d.", n, workfetch.MaxVersions)
	}
	return kept
}

func (b *bounder) versions(sent []protocol.AppVersion) []protocol.AppVersion {
	kept := taken(sent, room(&b.db.Versions, b.project, workfetch.MaxVersions), func(v protocol.AppVersion) bool {
		_, known := b.db.Versions.Get(state.VersionKey(b.project, v))
		return known
	})
	if n := len(sent) - len(kept); n > 0 {
		b.notice("App versions rejected: %d. The limit per project is %d.", n, workfetch.MaxVersions)
	}
	return kept
}

// files keeps first those that something refers to.
func (b *bounder) files(sent []protocol.FileInfo, needed map[string]bool) []protocol.FileInfo {
	first, rest := make([]protocol.FileInfo, 0, len(sent)), []protocol.FileInfo(nil)
	for _, f := range sent {
		if needed[f.Name] {
			first = append(first, f)
		} else {
			rest = append(rest, f)
		}
	}
	kept := taken(append(first, rest...), room(&b.db.Files, b.project, workfetch.MaxFiles), func(f protocol.FileInfo) bool {
		_, known := b.db.Files.Get(state.Key(b.project, f.Name))
		return known
	})
	if n := len(sent) - len(kept); n > 0 {
		b.notice("Files rejected: %d. The limit per project is %d.", n, workfetch.MaxFiles)
	}
	return kept
}

// needed returns the names of files that a reply refers to.
func needed(r protocol.SchedulerReply) map[string]bool {
	names := make(map[string]bool)
	all := func(refs []protocol.FileRef) {
		for _, ref := range refs {
			names[ref.FileName] = true
		}
	}
	for _, v := range r.AppVersions {
		all(v.FileRefs)
	}
	for _, u := range r.Workunits {
		all(u.FileRefs)
	}
	for _, res := range r.Results {
		all(res.FileRefs)
	}
	return names
}
