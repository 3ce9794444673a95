package control

import (
	"strings"
	"testing"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/serviceuser"
)

// The agent's pipe belongs to the user that runs it, and not to a group that Windows would choose,
// such as all users of the computer.
func TestThePipesOwner(t *testing.T) {
	dir := t.TempDir()
	l, err := listen(t.Context(), dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_ = c.Close()
		}
	}()
	name, err := pipe(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := winio.DialPipeContext(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sd, err := windows.GetSecurityInfo(windows.Handle(c.(interface{ Fd() uintptr }).Fd()), windows.SE_KERNEL_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	owner, _, err := sd.Owner()
	if err != nil {
		t.Fatal(err)
	}
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	if !owner.Equals(me.User.Sid) {
		t.Errorf("it belongs to %s, want %s", owner, me.User.Sid)
	}
}

func TestCredibleOwners(t *testing.T) {
	const me = "S-1-5-21-1-2-3-1001"
	for owner, want := range map[string]bool{
		me: true, "S-1-5-18": true, "S-1-5-32-544": true, serviceuser.SID("Starling"): true,
		"S-1-5-21-1-2-3-1002":        false, // another user
		"S-1-5-21-1-2-3-513":         false, // all users of the computer
		"S-1-5-21-1-2-3-512":         false, // administrators of a domain: their pipes belong to them or to this computer's
		"S-1-1-0":                    false,
		"S-1-5-11":                   false,
		"S-1-5-19":                   false, // many a service runs as this one
		"S-1-5-32-545":               false,
		serviceuser.SID("another"):   false,
		serviceuser.SID("starling2"): false,
	} {
		sid := func(text string) *windows.SID {
			s, err := windows.StringToSid(text)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		if got := credible(sid(owner), sid(me)); got != want {
			t.Errorf("%s: got %v, want %v", owner, got, want)
		}
	}
}

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
		useUp(name)
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
