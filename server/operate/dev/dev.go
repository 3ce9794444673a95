// Package dev makes a project for tests of clients: with an account whose key is always the same, an
// application that copies its input, and jobs that never run out. The project is an ordinary one.
package dev

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/api"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

// The account, which is the same in every project.
const (
	Email    = "dev@example.org"
	Password = "development"
	Key      = protocol.Authenticator("0123456789abcdef0123456789abcdef")
)

// App is the name of the application. Its tasks have a file "in", whose content they write into
// a file "out".
const App = "echo"

// platforms are the platforms that run shell scripts.
var platforms = []string{
	"x86_64-pc-linux-gnu", "i686-pc-linux-gnu", "aarch64-unknown-linux-gnu", "arm-unknown-linux-gnueabihf", "riscv64-unknown-linux-gnu",
	"x86_64-apple-darwin", "arm64-apple-darwin", "x86_64-pc-freebsd__FreeBSD",
}

// program is the application. BOINC's clients take a task as ended well only if its program has
// left the file boinc_finish_called.
const program = `#!/bin/sh
cat in >out && echo 0 >boinc_finish_called
`

// Templates, with which the program finds copies of its files in its folder.
const (
	input = `<input_template>
    <file_info><number>0</number></file_info>
    <workunit><file_ref><file_number>0</file_number><open_name>in</open_name><copy_file/></file_ref></workunit>
</input_template>
`
	output = `<output_template>
    <file_info>
        <name><OUTFILE_0/></name>
        <generated_locally/><upload_when_present/>
        <max_nbytes>1000000</max_nbytes>
        <url><UPLOAD_URL/></url>
    </file_info>
    <result><file_ref><file_name><OUTFILE_0/></file_name><open_name>out</open_name><copy_file/></file_ref></result>
</output_template>
`
)

// A Project holds all that a test needs to use the project.
type Project struct {
	URL           string                 `json:"url"`
	Email         string                 `json:"email"`
	Password      string                 `json:"password"`
	Authenticator protocol.Authenticator `json:"authenticator"`
	App           string                 `json:"app"`
	Token         string                 `json:"token"` // with which jobs are submitted over HTTP
	Dir           string                 `json:"dir"`

	made int // jobs
}

// Make makes a project in dir, which must not exist or be empty, and opens it.
func Make(ctx context.Context, dir, url string, log *slog.Logger) (d *Project, p *project.Project, err error) {
	if err := operate.Init(ctx, dir, operate.NewProject{Name: "Development", MasterURL: url}); err != nil {
		return nil, nil, err
	}
	for name, text := range map[string]string{"_in": input, "_out": output} {
		if err := os.WriteFile(filepath.Join(dir, project.TemplatesDir, App+name), []byte(text), 0o600); err != nil {
			return nil, nil, err
		}
	}
	if err := configure(dir); err != nil {
		return nil, nil, err
	}
	if p, err = project.Open(ctx, dir, log); err != nil {
		return nil, nil, err
	}
	d = &Project{URL: p.Config.MasterURL, Email: Email, Password: Password, Authenticator: Key, App: App, Dir: dir}
	if err := d.fill(ctx, p); err != nil {
		_ = p.Close()
		return nil, nil, err
	}
	return d, p, nil
}

// configure lets one computer ask as often and for as much as it likes.
func configure(dir string) error {
	c, err := project.ReadConfig(dir)
	if err != nil {
		return err
	}
	c.MinSendworkInterval, c.DailyResultQuota, c.OneResultPerHostPerWU = 0, 0, false
	return os.WriteFile(filepath.Join(dir, "server.toml"), []byte(c.Text()), 0o600)
}

// fill adds the account, the application and a token.
func (d *Project) fill(ctx context.Context, p *project.Project) error {
	now := time.Now()
	if _, err := operate.AddUser(ctx, p, Email, "dev", Password, now); err != nil {
		return err
	}
	secret, hash := api.NewToken()
	d.Token = secret
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := store.Change(tx.UserByEmail, Email, tx.SaveUser, func(u *store.User) { u.Authenticator = Key }); err != nil {
			return err
		}
		_, err := tx.InsertToken(store.Token{CreateTime: now, Name: "dev", Hash: hash})
		return err
	})
	if err != nil {
		return err
	}
	if err := operate.AddApp(ctx, p, operate.NewApp{Name: App, Validator: "bitwise", Assimilator: "copy"}, now); err != nil {
		return err
	}
	main := filepath.Join(d.Dir, App)
	if err := os.WriteFile(main, []byte(program), 0o700); err != nil { //nolint:gosec // a program
		return err
	}
	for _, platform := range platforms {
		if err := operate.AddVersion(ctx, p, operate.NewVersion{App: App, Platform: platform, Number: "1.00", Main: main}, now); err != nil {
			return err
		}
	}
	return nil
}

// Supply makes jobs until as many results as atLeast wait to be sent.
func (d *Project) Supply(ctx context.Context, p *project.Project, atLeast int) error {
	st, err := store.Read(ctx, p.Store, func(tx *store.View) (store.Status, error) { return tx.Status(0) })
	if err != nil {
		return err
	}
	n := atLeast - int(st.ByApp[0].Unsent+st.Workunits.TransitionsPending)
	if n <= 0 {
		return nil
	}
	now := time.Now()
	g, err := operate.Generator(ctx, p, App, now)
	if err != nil {
		return err
	}
	specs := make([]workgen.Spec, n)
	inputs, err := os.MkdirTemp(d.Dir, "inputs")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(inputs) }()
	for i := range specs {
		d.made++
		path := filepath.Join(inputs, fmt.Sprint(d.made))
		if err := os.WriteFile(path, fmt.Appendf(nil, "This is input %d.\n", d.made), 0o600); err != nil {
			return err
		}
		specs[i] = workgen.Spec{
			Params: workgen.Params{RscFpopsEst: 1e9, RscFpopsBound: 1e15, DelayBound: 3600},
			Inputs: []workgen.Given{{Path: path, Logical: "in"}},
		}
	}
	_, err = g.Create(ctx, specs, now)
	return err
}
