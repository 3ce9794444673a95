package control

import (
	"errors"
	"strings"
	"testing"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// The agent accepts requests from users who were explicitly granted its folder.
func TestWhoElseIsObeyed(t *testing.T) {
	const ada, bob = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
	for rights, want := range map[string]string{
		"D:P(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;" + ada + ")(A;;FA;;;" + bob + ")": "S-1-5-18 " + ada + " " + bob,
		"D:(A;OICIID;FA;;;" + ada + ")":                                           "", // inherited, as by all folders next to it
		"D:(A;OICI;0x1200a9;;;" + ada + ")":                                       "", // to read
		"D:(A;OICI;0x1201bf;;;" + ada + ")":                                       "", // not to delete
		"D:(D;OICI;0x1301bf;;;" + ada + ")":                                       "",
		"D:(A;OICIIO;0x1301bf;;;" + bob + ")":                                     "", // only for the contents of the folder
		"O:BA":                                                                    "",
	} {
		sd, err := windows.SecurityDescriptorFromString(rights)
		if err != nil {
			t.Fatal(err)
		}
		all, err := grantees(sd)
		var got []string
		for _, sid := range all {
			got = append(got, sid.String())
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, %v; want %q", rights, got, err, want)
		}
	}
	if all, err := granted(t.TempDir()); err != nil {
		t.Errorf("got %v, %v", all, err)
	}
}

// Users whose requests are refused get the remedy.
func TestWhoIsNotObeyed(t *testing.T) {
	dir := t.TempDir()
	name, err := pipe(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := winio.ListenPipe(name, &winio.PipeConfig{SecurityDescriptor: "D:P(D;;GA;;;WD)"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if c, err := winio.DialPipeContext(t.Context(), name); err == nil {
		_ = c.Close()
		t.Skip("the system connects those whom a pipe refuses, as Wine does; what they are told is NOT looked at")
	}
	if err := NewClient(dir).Reach(t.Context()); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "icacls") {
		t.Errorf("got %v", err)
	}
}
