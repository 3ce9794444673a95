package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// TestMain also acts as the sandboxed program: it prints its level and tries to write to each file.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "program" {
		level, err := integrity(windows.GetCurrentProcessToken())
		fmt.Println(level, err)
		for _, path := range os.Args[2:] {
			err := os.WriteFile(path, []byte("written"), 0o600)
			fmt.Println(filepath.Base(path), err == nil)
		}
		return
	}
	os.Exit(m.Run())
}

// needLevels skips a test where the system does not really lower the integrity.
func needLevels(t *testing.T) {
	t.Helper()
	if !lowers() {
		t.Skip("the system does not lower the integrity of processes, as Wine does not: what they may write is NOT looked at")
	}
}

func TestTheToken(t *testing.T) {
	token, err := lowered()
	if err != nil {
		t.Fatal(err)
	}
	defer token.Close()
	if me, err := token.GetTokenUser(); err != nil {
		t.Error(err)
	} else if own, err := windows.GetCurrentProcessToken().GetTokenUser(); err != nil || !me.User.Sid.Equals(own.User.Sid) {
		t.Errorf("it is %v's, want %v's, %v", me.User.Sid, own.User.Sid, err)
	}
	needLevels(t)
	if level, err := integrity(token); err != nil || level != low {
		t.Errorf("level %s, %v; want %s", level, err, low)
	}
}

// A program is started with the token, in its folder, and can change only its own files.
func TestWhatAProgramMayWrite(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, others := t.TempDir(), t.TempDir()
	early, deep := filepath.Join(own, "early"), filepath.Join(own, "sub", "deep")
	if err := os.Mkdir(filepath.Dir(deep), 0o700); err != nil {
		t.Fatal(err)
	}
	secret, linked := filepath.Join(others, "secret"), filepath.Join(own, "linked")
	for _, path := range []string{early, deep, secret} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(secret, linked); err != nil {
		t.Fatal(err)
	}
	start := func() string {
		t.Helper()
		cmd := exec.Command(self, "program", early, deep, filepath.Join(own, "late"), secret, linked, filepath.Join(others, "new"))
		var out bytes.Buffer
		cmd.Dir, cmd.Stdout, cmd.Stderr = own, &out, &out
		if err := Start(cmd, Policy{Write: []string{own, filepath.Join(own, "absent")}}); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, out.String())
		}
		return strings.ReplaceAll(out.String(), "\r\n", "\n")
	}
	for _, name := range []string{"early true", "deep true", "late true"} { // also on the second start
		for range 2 {
			if got := start(); !strings.Contains(got, name+"\n") {
				t.Errorf("got %q, want %q in it", got, name)
			}
		}
	}
	needLevels(t)
	if err := os.Remove(filepath.Join(others, "new")); err == nil {
		t.Error("it made a file in another's folder")
	}
	if got, want := start(), low+" <nil>\nearly true\ndeep true\nlate true\nsecret false\nlinked false\nnew false\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !labeled(own) {
		t.Error("its folder is not labeled")
	}
	if err := Reclaim(early); err != nil {
		t.Fatal(err)
	}
	if got := start(); !strings.Contains(got, "early false\n") {
		t.Errorf("after its file was taken away: got %q", got)
	}
}

// The description that doctor prints matches the system's behavior.
func TestLevel(t *testing.T) {
	words, enforced := Level()
	if enforced != lowers() || strings.Contains(words, "low integrity") != enforced || !strings.HasPrefix(words, "job objects") {
		t.Errorf("got %q, %v", words, enforced)
	}
}
