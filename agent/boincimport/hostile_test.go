//go:build unix

package boincimport_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/starling-grid/starling/agent/boincimport"
	"github.com/starling-grid/starling/agent/statetest"
	"github.com/starling-grid/starling/state"
)

const (
	secret   = "secret of root's"
	inFolder = "projects/127.0.0.1_8090_proj/"
)

// Things that a client's applications can put in place of the files in its folder.
var spoils = map[string]func(path, secrets string) error{
	"a link to a secret":    func(path, secrets string) error { return os.Symlink(filepath.Join(secrets, filepath.Base(path)), path) },
	"a link to all secrets": func(path, secrets string) error { return os.Symlink(secrets, path) },
	"a FIFO":                func(path, _ string) error { return unix.Mkfifo(path, 0o666) },
	"a sparse file": func(path, _ string) error {
		return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 4<<40))
	},
}

// Whatever replaces a file or folder, an import ends, copies no secret of the user that runs it,
// and reveals nothing of that to other users.
func TestImportFromAHostileFolder(t *testing.T) {
	for _, place := range []string{
		"client_state.xml", "account_127.0.0.1_8090_proj.xml", "global_prefs.xml", "global_prefs_override.xml", "lockfile", "cc_config.xml",
		"statistics_127.0.0.1_8090_proj.xml", "job_log_127.0.0.1_8090_proj.txt", "projects", "projects/127.0.0.1_8090_proj",
		inFolder + "in", inFolder + "out", inFolder + "lost", inFolder + "app_info.xml", inFolder + "app_config.xml", inFolder + "trickle_up_begun_1700000000.xml",
		"slots", "slots/3", "slots/3/checkpoint", "slots/3/boinc_task_state.xml",
	} {
		for how, spoil := range spoils {
			t.Run(place+" is "+how, func(t *testing.T) {
				t.Parallel()
				from, to, secrets := folder(t, clientState), t.TempDir(), t.TempDir()
				for _, name := range []string{"id_rsa", "out", "lost", "in", "3/id_rsa", "127.0.0.1_8090_proj/out", filepath.Base(place)} {
					file := filepath.Join(secrets, name)
					if info, err := os.Stat(file); err == nil && info.IsDir() {
						continue // with secrets in it
					}
					must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(secret), 0o600)))
				}
				path := filepath.Join(from, place)
				if err := errors.Join(os.RemoveAll(path), spoil(path, secrets)); err != nil {
					t.Skip(err)
				}
				report, err := boincimport.Import(t.Context(), from, to, nil)
				t.Logf("%v, %q", err, report.Notes)
				noSecrets(t, to)
			})
		}
	}
}

// noSecrets fails the test if a file below holds a secret or is very large.
func noSecrets(t *testing.T, dir string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > 1<<30 {
			t.Errorf("%s has %d bytes, %v", path, info.Size(), err)
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// An import that is interrupted ends with an error. No project is imported by half.
func TestImportIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("interrupted")
	cancel(enough)
	if _, err := boincimport.Import(ctx, folder(t, clientState), t.TempDir(), nil); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// The job log is for the agent's user alone.
func TestImportedJobLogIsPrivate(t *testing.T) {
	const name = "job_log_127.0.0.1_8090_proj.txt"
	from, to := folder(t, clientState), t.TempDir()
	must(t, os.WriteFile(filepath.Join(from, name), []byte("1 ue 2\n"), 0o644))
	if _, err := boincimport.Import(t.Context(), from, to, nil); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Join(to, name))
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", st, err)
	}
}

// A file that counts as present, but without a checksum of its content, is not trusted.
func TestImportOfWhatCannotBeChecked(t *testing.T) {
	const sum = "<nbytes>5</nbytes><md5_cksum>5d41402abc4b2a76b9719d911017c592</md5_cksum>"
	from, to := folder(t, strings.ReplaceAll(clientState, sum, "<nbytes>0</nbytes>")), t.TempDir()
	report, err := boincimport.Import(t.Context(), from, to, nil)
	must(t, err)
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "output file out is incomplete: ") || !strings.Contains(notes, "file in will be downloaded again: ") {
		t.Errorf("notes %s", notes)
	}
	db := statetest.Open(t, to)
	for name, want := range map[string]state.FileStatus{"out": state.FileFailed, "in": state.FileAbsent} {
		if f, _ := db.Files.Get(state.Key(url, name)); f.Local != want {
			t.Errorf("%s is %v, want %v", name, f.Local, want)
		}
	}
}
