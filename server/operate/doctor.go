package operate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/certs"
	"github.com/starling-grid/starling/server/doctor"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// CheckFolders checks that files can be written to the project's directory and to its folders of files.
// Whether the user who runs the check may do so does not matter, since another may serve the project.
func CheckFolders(p *project.Project) (wrong []store.Violation) {
	for _, dir := range []string{p.Dir, filepath.Join(p.Dir, project.DownloadDir), filepath.Join(p.Dir, project.UploadDir)} {
		err := blob.Writable(dir)
		if reason, ok := errors.AsType[*fs.PathError](err); ok && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
			wrong = append(wrong, store.Violation{
				Rule: "files can be written to the project's folders", Count: 1, Rows: []string{fmt.Sprintf("nothing can be written to %s: %v", dir, reason.Err)},
				Mend: "free some space if the disk is full; otherwise look for errors of the disk in the system's log (journalctl -k), repair it, mount it for writing and start the server again. Clients keep what they cannot send",
			})
			break
		}
	}
	return wrong
}

// CheckMail sees whether the project's mail server takes its log-in. Nothing is sent.
func CheckMail(ctx context.Context, p *project.Project) (wrong []store.Violation) {
	post, err := p.Post()
	if err == nil && post != nil {
		err = post.Check(ctx)
	}
	if err != nil {
		wrong = append(wrong, store.Violation{
			Rule: "mail can be sent to volunteers", Count: 1, Rows: []string{err.Error()},
			Mend: "correct mail in server.toml, or set it to \"\" to send none; forgotten passwords can then be replaced by the operator only (user passwd)",
		})
	}
	return wrong
}

// CheckApps checks that the programs and templates of applications are there and can be used.
func CheckApps(ctx context.Context, p *project.Project, now time.Time) (wrong []store.Violation, err error) {
	apps, err := store.Read(ctx, p.Store, (*store.View).Apps)
	v := store.Violation{
		Rule: "the programs and templates of applications can be used",
		Mend: "put the file back, or change the application with starling-server app set; until then, its outcomes wait or no work can be created",
	}
	for _, a := range apps {
		_, err := workgen.New(p.Store, p.Download, p.Dir, a, now)
		for _, err := range []error{checkApp(p, settingsOf(a)), err} {
			// The user who runs the check may lack a permission that the server has.
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				v.Count++
				v.Rows = append(v.Rows, a.Name+": "+sysfault.Plain(err))
			}
		}
	}
	if v.Count > 0 {
		wrong = append(wrong, v)
	}
	return wrong, err
}

// CheckTLS checks that the project's own certificate, if it has one in files, is readable for the
// user who runs the check and would be accepted by clients at now.
func CheckTLS(p *project.Project, now time.Time) []store.Violation {
	c := p.Config
	if !c.TLS || c.TLSCert == "" {
		return nil
	}
	u, err := url.Parse(c.MasterURL)
	if err == nil {
		err = certs.Check(project.Within(p.Dir, c.TLSCert), project.Within(p.Dir, c.TLSKey), u.Hostname(), now)
	}
	if err == nil {
		return nil
	}
	return []store.Violation{{
		Rule: "clients can connect with TLS", Count: 1, Rows: []string{sysfault.Plain(err)},
		Mend: "make tls_cert and tls_key of server.toml name a valid certificate for the host of master_url, with its key, which the user who serves the project can read",
	}}
}

// Doctor returns the project in the form for package doctor.
func Doctor(p *project.Project) *doctor.Project {
	return &doctor.Project{Store: p.Store, Download: p.Download, Upload: p.Upload, CodeSign: p.CodeSign(), Once: p.Config.Once}
}
