package installer

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/serviceuser"
)

// The system, administrators, the service and the user who installed it have access to the data
// directory.
func TestWhoseTheDataIs(t *testing.T) {
	const user = "S-1-5-21-1-2-3-1001"
	sd, err := windows.SecurityDescriptorFromString(access(serviceuser.SID(Name), user))
	if err != nil {
		t.Fatal(err)
	}
	text := sd.String()
	if control, _, err := sd.Control(); err != nil || control&windows.SE_DACL_PROTECTED == 0 || strings.Count(text, "(A;OICI;") != 4 {
		t.Errorf("got %s, %v; want 4 who have rights, and none from the folder above", text, err)
	}
	for _, who := range []string{";;;SY)", ";;;BA)", ";;;" + serviceuser.SID(Name) + ")", ";;;" + user + ")"} {
		if !strings.Contains(text, who) {
			t.Errorf("nothing for %s in %s", who, text)
		}
	}

	dir := filepath.Join(t.TempDir(), "a", "Starling")
	if err := makeData(dir); err != nil {
		t.Fatal(err)
	}
	got, err := windows.GetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.String(), serviceuser.SID(Name)) {
		t.Skipf("the system does not keep the rights of files, as Wine does not (%s); they are NOT looked at", got)
	}
	if strings.Count(got.String(), "(A;") != 4 {
		t.Errorf("got %s", got)
	}
}
