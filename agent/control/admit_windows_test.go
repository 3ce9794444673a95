package control

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// The agent obeys those to whom its folder was given to change, by name.
func TestWhoElseIsObeyed(t *testing.T) {
	const ada, bob = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
	for rights, want := range map[string]string{
		"D:P(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;" + ada + ")(A;;FA;;;" + bob + ")": "S-1-5-18 " + ada + " " + bob,
		"D:(A;OICIID;FA;;;" + ada + ")":                                           "", // what all folders beside it give
		"D:(A;OICI;0x1200a9;;;" + ada + ")":                                       "", // to read
		"D:(A;OICI;0x1201bf;;;" + ada + ")":                                       "", // not to delete
		"D:(D;OICI;0x1301bf;;;" + ada + ")":                                       "",
		"D:(A;OICIIO;0x1301bf;;;" + bob + ")":                                     "", // what is in the folder, and not it
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
