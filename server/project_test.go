package server_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/operate"
	"github.com/starling-grid/starling/server/project"
	"github.com/starling-grid/starling/server/workgen"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	const last = "max_requests_per_address = 100"
	for _, tt := range []struct{ name, old, new, want string }{
		{"an unknown key", "daily_result_quota = 100", "daily_result_qota = 100", "daily_result_qota: unknown key, did you mean daily_result_quota?"},
		{"the wrong kind", "daily_result_quota = 100", `daily_result_quota = "many"`, `daily_result_quota: "many" is not a whole number`},
		{"a bad value", "daily_result_quota = 100", "daily_result_quota = -1", "daily_result_quota: -1 is out of range, want 0 to 1000000"},
		{"a host without a dot", master, "http://localhost/", "master_url: "},
		{"a version that is none", `min_core_version = ""`, `min_core_version = "7"`, "is not a version, want MAJOR.MINOR.RELEASE"},
		{"not canonical", master, strings.TrimSuffix(master, "/"), "master_url: "},
		{
			"an unknown key of a plan class", last, last + "\n[plan_class.mt]\nmin_cpus = 2",
			"plan_class.mt.min_cpus: unknown key, did you mean plan_class.mt.min_ncpus?",
		},
		{
			"a plan class with a bad part of a GPU", last, last + "\n[plan_class.cuda]\ngpu_type = \"nvidia\"\nngpus = 1.5",
			"plan_class.cuda.ngpus: 1.5: want a part of a device",
		},
		{
			"a plan class with a GPU of no kind", last, last + "\n[plan_class.cuda]\ncpu_frac = 0.5",
			"plan_class.cuda.gpu_type: is missing",
		},
		{"a proxy that is none", "trusted_proxies = []", `trusted_proxies = ["proxy"]`, `trusted_proxies: "proxy" is neither an address such as 192.0.2.1`},
		{"a time below 0", "next_rpc_delay = 0", "next_rpc_delay = -1", "next_rpc_delay: -1 is out of range"},
		{"a token to be guessed", `metrics_token = ""`, `metrics_token = "x"`, "metrics_token: want at least 16 characters"},
		{"TLS without https", "\ntls = false", "\ntls = true", "tls: master_url does not start with https"},
		{"half a certificate", `tls_cert = ""`, `tls_cert = "cert.pem"`, "tls_cert and tls_key need each other"},
		{"an operator's address that is none", `admin_listen = ""`, `admin_listen = "8081"`, "admin_listen: \"8081\" is not an address"},
		{"a mirror that is none", "download_urls = []", `download_urls = ["https://cdn.example/x"]`, "download_urls: \"https://cdn.example/x\" is not the address of a folder"},
		{"a header that no proxy writes", `forwarded_header = "X-Forwarded-For"`, `forwarded_header = "X-Real-IP"`, "want one of X-Forwarded-For, Forwarded"},
		{"a port that is none", `listen = ""`, `listen = ":99999"`, "want HOST:PORT or :PORT"},
		{"a misspelt mail server", `mail = "mail"`, `mail = "smpt://user:secret7@mail.example"`, "mail: want the name of a folder, or smtp://"},
		{"a mail server without a host", `mail = "mail"`, `mail = "smtp://"`, "mail: want the name"},
		{"a sender that is none", `mail_from = ""`, `mail_from = "nobody"`, `mail_from: "nobody" is not an e-mail address`},
		{"an address that is none", `listen = ""`, `listen = "here"`, "want HOST:PORT or :PORT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.edit(tt.old, tt.new)
			_, err := project.Open(t.Context(), w.dir, slog.New(slog.DiscardHandler))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "server.toml:") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := operate.Init(t.Context(), dir, operate.NewProject{Name: "X", MasterURL: "http://localhost:8080/"}); err == nil || !strings.Contains(err.Error(), "dot") {
		t.Errorf("a URL that clients refuse: got %v", err)
	}
	if err := operate.Init(t.Context(), dir, operate.NewProject{Name: " ", MasterURL: master}); err == nil {
		t.Error("a project without a name was made")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a refused project left %d files", len(entries))
	}
	must(t, operate.Init(t.Context(), dir, operate.NewProject{Name: "X", MasterURL: master}))
	if err := operate.Init(t.Context(), dir, operate.NewProject{Name: "X", MasterURL: master}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("made twice: got %v", err)
	}
	for _, name := range []string{"keys/code_sign_private", "keys/upload_private", "project.db"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want it for its owner only", name, st.Mode(), err)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.setUp()
	elf := "\x7fELF" + strings.Repeat("\x00", 14) + "\x3e\x00"                     // a program for Linux on x86_64
	pe := "MZ" + strings.Repeat("\x00", 58) + "\x40\x00\x00\x00PE\x00\x00\x64\xaa" // for Windows on ARM
	macho := "\xcf\xfa\xed\xfe\x0c\x00\x00\x01" + strings.Repeat("\x00", 24)       // for macOS on ARM
	good := operate.NewVersion{App: "upper", Platform: "x86_64-pc-linux-gnu", Number: "1.01", Main: w.file("x", "#!/bin/sh\n")}
	for _, tt := range []struct {
		name   string
		change func(v *operate.NewVersion)
		want   string
	}{
		{"there already", func(v *operate.NewVersion) { v.Number = "1.0" }, "already exists"},
		{"no such app", func(v *operate.NewVersion) { v.App = "nope" }, "not found"},
		{"no version", func(v *operate.NewVersion) { v.Number = "one" }, "want major and minor"},
		{"version zero", func(v *operate.NewVersion) { v.Number = "0.0" }, "want major and minor"},
		{"a strange platform", func(v *operate.NewVersion) { v.Platform = "../x" }, "want a name such as"},
		{"no program", func(v *operate.NewVersion) { v.Main = "/nowhere" }, "nowhere"},
		{"an empty program", func(v *operate.NewVersion) { v.Main = w.file("e", "") }, "is empty"},
		{"a script of Windows", func(v *operate.NewVersion) { v.Main = w.file("crlf", "#!/bin/sh\r\necho\r\n") }, "crlf is a script whose lines end as on Windows"},
		{"a script for Windows", func(v *operate.NewVersion) { v.Platform = "windows_x86_64"; v.Main = w.file("run.py", "import sys\n") }, "run.py is a text, so that windows_x86_64 cannot start it; publish a program, or a .bat"},
		{"a script with a byte order mark", func(v *operate.NewVersion) { v.Main = w.file("bom", "\ufeff#!/bin/sh\n") }, "bom is a script with a byte order mark"},
		{"a script without its first line", func(v *operate.NewVersion) { v.Main = w.file("bare", "import sys\n") }, "its first line names one, such as #!/bin/sh"},
		{"a program for another system", func(v *operate.NewVersion) { v.Platform = "windows_x86_64"; v.Main = w.file("elf", elf) }, "is a program for linux, not for"},
		{"a program for another processor", func(v *operate.NewVersion) { v.Platform = "aarch64-unknown-linux-gnu"; v.Main = w.file("elf", elf) }, "is a program for x86_64 processors"},
		{"a program for another Windows", func(v *operate.NewVersion) { v.Platform = "windows_x86_64"; v.Main = w.file("pe", pe) }, "is a program for aarch64 processors"},
		{"a program for another Mac", func(v *operate.NewVersion) { v.Platform = "x86_64-apple-darwin"; v.Main = w.file("macho", macho) }, "is a program for aarch64 processors"},
		{"a wrapper for another system", func(v *operate.NewVersion) { v.Plain, v.Wrapper = true, w.file("exe", "MZ"+elf) }, "is a program for windows"},
		{"a plan class of which nobody knows", func(v *operate.NewVersion) { v.PlanClass = "mt" }, "add [plan_class.mt]"},
		{"clients that do not exist", func(v *operate.NewVersion) { v.MinCore, v.MaxCore = "8.0", "7.9" }, "no client is between"},
		{"plain without a wrapper", func(v *operate.NewVersion) { v.Plain = true }, "needs the wrapper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := good
			tt.change(&v)
			if err := operate.AddVersion(t.Context(), w.p, v, w.now()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	plain := good
	plain.Plain, plain.Wrapper = true, w.file("starling-wrap", "#!/bin/sh\n")
	plain.Files = []workgen.Given{{Path: w.file("data", "d"), Logical: "table"}}
	w.must(operate.AddVersion(t.Context(), w.p, plain, w.now()))
	w.create(workgen.Params{Name: "wu"}, "hello")
	c := &client{w: w, key: w.user("a@example.org"), name: "a"}
	refs := c.fetch().AppVersions[0].FileRefs
	if len(refs) != 3 || !refs[0].MainProgram || refs[1].OpenName != "starling_program" || refs[2].OpenName != "table" || !refs[2].CopyFile {
		t.Errorf("got %+v", refs)
	}
	job := plain
	job.Number = "1.02"
	job.Job.File = w.file("job.xml", "<job_desc><task><application>first</application></task><task><application>second</application></task></job_desc>")
	script := w.file("script", "#!/bin/sh\n")
	w.must(os.Chmod(script, 0o644))
	job.Files = []workgen.Given{{Path: script, Logical: "second"}}
	w.must(operate.AddVersion(t.Context(), w.p, job, w.now()))
	w.create(workgen.Params{Name: "wu2"}, "hello")
	if !slices.ContainsFunc(c.fetch().Files, func(f protocol.FileInfo) bool { return strings.HasPrefix(f.Name, "script") && f.Executable }) {
		t.Error("clients do not make a program of job.xml executable")
	}
}
