package files

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// Two projects whose addresses differ only in http and https have the same folder. When one of them
// ends, the other loses nothing. The last one removes the folder.
func TestForgetInAFolderOfTwoProjects(t *testing.T) {
	t.Parallel()
	const leaves, stays = "http://a.example/", "https://a.example/"
	dir := t.TempDir()
	fs := &Files{Core: &core.Core{Dir: dir, DB: statetest.Open(t, dir), Log: slog.New(slog.DiscardHandler)}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	statetest.Update(t, fs.DB, func(tx *state.Tx) {
		for project, files := range map[string][]string{leaves: {"both", "mine"}, stays: {"both", "theirs"}} {
			fs.DB.Projects.Put(tx, project, state.Project{MasterURL: project})
			for _, name := range files {
				fs.DB.Files.Put(tx, state.Key(project, name), state.File{Project: project, FileInfo: protocol.FileInfo{Name: name}})
			}
		}
		fs.DB.Results.Put(tx, state.Key(stays, "theirs_0"), state.Result{Project: stays})
	})
	must(os.Mkdir(filepath.Join(dir, core.ProjectsDir), 0o700))
	must(fs.Forget(leaves)) // before the folder was made

	folder, at := fs.ProjectDir(leaves), time.Unix(1_800_000_000, 0)
	kept := []string{"both", "theirs", appipc.TrickleName("theirs_0", at)}
	must(os.Mkdir(folder, 0o700))
	for _, name := range append([]string{"mine", appipc.TrickleName("mine_0", at)}, kept...) {
		must(os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	for range 2 { // the second after a crash
		must(fs.Forget(leaves))
		left, err := os.ReadDir(folder)
		must(err)
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		if slices.Sort(kept); !slices.Equal(names, kept) {
			t.Errorf("left: %q, want %q", names, kept)
		}
	}
	statetest.Update(t, fs.DB, func(tx *state.Tx) { fs.DB.Projects.Delete(tx, leaves) })
	must(fs.Forget(stays))
	if _, err := os.Stat(folder); err == nil {
		t.Error("the folder is left")
	}
}
