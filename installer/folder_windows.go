package installer

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"

	"github.com/starling-grid/starling/internal/serviceuser"
)

// access returns the access rights of a service's data directory and its content. The system,
// administrators and the service have full access, and the user who installs the service has all
// rights except changing the rights. Other users cannot read it. The agent accepts commands from
// users who may change it, see agent/control.
func access(service, user string) string {
	return fmt.Sprintf("O:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;FA;;;%s)(A;OICI;0x1301bf;;;%s)", service, user)
}

// makeData creates the data directory, or takes over an existing one.
func makeData(dir string) error {
	me, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return os.NewSyscallError("GetTokenInformation", err)
	}
	sd, err := windows.SecurityDescriptorFromString(access(serviceuser.SID(Name), me.User.Sid.String()))
	if err != nil {
		return err
	}
	owner, _, err := sd.Owner()
	if err != nil {
		return err
	}
	dacl, _, err := sd.DACL()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	const what = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	if err := windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, what, owner, nil, dacl, nil); err != nil {
		return fmt.Errorf("close the data directory %s to other users: %w", dir, err)
	}
	return nil
}
