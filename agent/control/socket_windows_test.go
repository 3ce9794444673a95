package control

import (
	"strings"
	"testing"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// A pipe that has the agent's name but another owner is not the agent.
func TestPipesOfOthers(t *testing.T) {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	for owner, want := range map[string]string{
		me.User.Sid.String(): "", "S-1-5-32-544": "", // administrators
		"S-1-5-32-546": "it belongs to S-1-5-32-546", // guests
	} {
		dir := t.TempDir()
		name, err := pipe(dir)
		if err != nil {
			t.Fatal(err)
		}
		l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: "O:" + owner + "D:(A;;GA;;;WD)"})
		if err != nil {
			t.Logf("%s cannot be made an owner here: %v", owner, err) // it takes a privilege
			continue
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				defer c.Close()
			}
		}()
		c, err := dial(t.Context(), dir)
		if err == nil {
			_ = c.Close()
		}
		_ = l.Close()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", owner, err, want)
		}
	}
}
