package e2e_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestOperator runs a project by the chapters of the operators' handbook that are not about its first
// day: several processes, a key on another computer, failed work, accounts, a backup and a move.
func TestOperator(t *testing.T) {
	onDemand(t, "STARLING_HANDBOOK", "handbook")
	t.Parallel()
	needs(t, "curl")
	s := newStory(t)
	ports := make([]string, 3)
	for i := range ports {
		port := freePort(t)
		ports[i] = fmt.Sprint(":", port)
	}
	p := &storyProject{s: s, Project: testhost.Project{Bin: bin, Dir: filepath.Join(s.dir, "myproject"), URL: "http://127.0.0.1" + ports[0] + "/demo/"}}
	s.typed("cp " + bin.Path(testhost.Mersenne) + " primes")
	s.write("numbers.txt", "2203\n")
	s.typed("starling-server init myproject --name 'My project' --url " + p.URL + `
sed -i 's/^min_sendwork_interval = .*/min_sendwork_interval = 0/' myproject/server.toml
starling-server app add myproject primes
for name in ada bob; do starling-server user add myproject --email $name@example.org --password secret7; done`)
	p.Key = strings.TrimSpace(s.typed("starling-server user add myproject --email you@example.org"))
	s.signingKey()

	s.call("serve p ", "serve myproject ")
	s.call("--listen :8081", "--listen "+ports[0])
	s.call("--listen :8082", "--listen "+ports[1])
	s.call("127.0.0.1:8081", "127.0.0.1"+ports[2])
	s.follow("servers.md", "starling-server serve p --roles web")
	s.join("a", p.URL, p.Key)
	s.join("b", p.URL, p.Key)
	s.typed("starling-server work create myproject primes --name first --input numbers.txt=in --batch 3")
	p.done()
	p.has("first/out", "M2203 is prime!\n")
	s.typed("starling-server work create myproject primes --name waiting --staged later=in --await-inputs --batch 3")
	p.failures()
	p.accounts()
	p.watch()
	p.backup()
}

// signingKey publishes the first version, with a key that is elsewhere.
func (s *story) signingKey() {
	s.t.Helper()
	s.call("primes … --main", "primes --platform x86_64-pc-linux-gnu --version 1.00 --main")
	s.typed(s.pick("operators.md", "starling-server key create").Text)
	s.write("bad/primes", "#!/bin/sh\nexit 1\n")
	s.typed("starling-server version sign code_sign_private bad/primes")
}

// failures looks at failed work, retries it and withdraws the bad version.
func (p *storyProject) failures() {
	s := p.s
	s.typed(`starling-server version add myproject primes --platform x86_64-pc-linux-gnu --version 1.02 --main bad/primes
starling-server app add myproject upper
for name in wu_7 wu_8; do starling-server work create myproject primes --name $name --input numbers.txt=in --max-error 1 --target-nresults 2 --rsc-fpops-est 1e9; done`)
	testwait.Try(s.t, s.ctx, "failures", func() error {
		if c, err := p.Count(s.ctx); err != nil || c.Workunits.Error != 2 {
			return errors.Join(err, fmt.Errorf("%+v", c.Workunits))
		}
		return nil
	})
	s.call("--host 17", "--host 1")
	look := s.follow("operators.md", "starling-server work list myproject")
	s.prints(look, "wu_7_", "first_0", "batch 3", "MD5", "1 workunit changed")
	s.headed(s.typed("starling-server work show myproject first"), s.example("pipeline.md", "TIME"))
	if shown := s.typed("starling-server work show myproject waiting"); !regexp.MustCompile(`(?m)^priority +10$`).MatchString(shown) {
		s.t.Errorf("after work set, the workunit is %s", shown)
	}

	s.call("demo", "myproject")
	withdrawal := s.pick("operators.md", "starling-server version list").Commands()
	s.prints(s.typed(withdrawal[0]+"\n"+withdrawal[1]), "1.02", "would no longer be sent", "Add --yes")
	yes, _, _ := strings.Cut(withdrawal[1], " #")
	s.typed(yes + " --yes")
	s.prints(s.typed(withdrawal[2]+"\n"+withdrawal[3]), "primes")
	s.prints(s.follow("pipeline.md", "starling-server work retry demo"), "1 workunit retried", "0 workunits")
	s.prints(s.follow("operators.md", "starling-server work retry myproject"), "1 workunit retried")
}

// accounts bans and deletes.
func (p *storyProject) accounts() {
	s := p.s
	s.call("17 18", "1 2")
	s.prints(s.typed(s.pick("operators.md", "starling-server user list").Text), "ada@example.org", "bob@example.org")
	s.prints(s.typed("starling-server user list myproject"), "bob@example.org", "Deleted account")
	if hosts := s.typed("starling-server host list myproject"); strings.Count(hosts, "banned") != 2 {
		s.t.Errorf("after host ban, the computers are %s", hosts)
	}
	s.prints(s.follow("operators.md", "starling-server audit"), "user ban", "user trust")
}

// watch reads the metrics, profiles and pages for the operator.
func (p *storyProject) watch() {
	s := p.s
	s.halt()
	s.call("debug/pprof/profile", "debug/pprof/profile?seconds=1")
	s.call("go tool pprof", "curl --silent --output profile")
	s.prints(s.typed(s.pick("operators.md", "starling-server serve myproject --admin-listen").Text), `"msg":"serving"`, "starling_", "ok")
	s.typed("gzip --test <profile")
	s.prints(s.typed(s.pick("operators.md", "starling-server admin").Commands()[0]), "http://127.0.0.1")
	if out, err := s.try("starling-server admin myproject"); err == nil || !strings.Contains(out, "add the same flag here") {
		s.t.Errorf("without the flag, admin prints %s", out)
	}
	s.halt()
}

// backup restores a backup, as after a loss, moves the copy to another address, and restores the backup in its place.
func (p *storyProject) backup() {
	s := p.s
	s.write("backups/README", "")
	s.call("/backups/", s.dir+"/backups/")
	s.call("2027-01-31", time.Now().Format(time.DateOnly))
	b := s.take("operators.md", "starling-server backup").Commands()
	s.typed(b[0] + "\n" + b[1] + "\nmv myproject lost\n" + b[2])
	s.prints(s.typed("starling-server doctor myproject"), "no faults found")
	move := s.take("operators.md", "starling-server move myproject --db").Commands()
	s.typed(move[2])
	if settings := p.read("server.toml"); !strings.Contains(settings, "https://new.example.org/myproject/") {
		s.t.Errorf("after the move, the settings are %s", settings)
	}
	s.follow("operators.md", "mv myproject myproject.new")
	s.prints(s.typed("starling-server doctor myproject"), "no faults found")
}
