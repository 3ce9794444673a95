package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol"
)

// An accountManager is a web site that chooses one project for its only user.
type accountManager struct {
	*httptest.Server
	key *protocol.PrivateKey

	mu      sync.Mutex
	account string // its reply about the project
	asked   []string
}

func newAccountManager(t *testing.T, project, account string) *accountManager {
	t.Helper()
	key, err := protocol.GenerateKey()
	must(t, err)
	m := &accountManager{key: key, account: account}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /get_project_config.php", func(w http.ResponseWriter, _ *http.Request) {
		c := protocol.ProjectConfig{Name: "Chooser", AccountManager: true}
		_, _ = w.Write(c.Encode())
	})
	mux.HandleFunc("POST /rpc.php", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.asked = append(m.asked, string(b))
		if !strings.Contains(string(b), "<password_hash>"+protocol.PasswordHash("secret", "Ann")+"</password_hash>") {
			fmt.Fprint(w, "<acct_mgr_reply><error_num>-206</error_num><error>No such name, or another password</error></acct_mgr_reply>")
			return
		}
		sig, _ := key.SignText(project)
		fmt.Fprintf(w, "<?xml version=\"1.0\"?>\n<acct_mgr_reply>\n<name>Chooser</name>\n<signing_key>\n%s</signing_key>\n<repeat_sec>86400</repeat_sec>\n<account>\n<url>%s</url>\n<url_signature>\n%s</url_signature>\n%s\n</account>\n</acct_mgr_reply>\n",
			key.Public().Text(), project, sig, m.account)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

// says changes the manager's reply about the project.
func (m *accountManager) says(account string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.account = account
}

// TestAccountManager makes the agent follow an account manager, first with Debian's boinccmd, and
// then with our own command line.
func TestAccountManager(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("boinccmd"); err != nil {
		t.Skip("boinccmd is not installed; tools/install-test-deps installs it")
	}
	ctx := patience(t)
	p := newProject(t, ctx)
	serve(t, ctx, p)
	m := newAccountManager(t, p.URL, "<authenticator>"+p.Key+"</authenticator><resource_share>30</resource_share>")
	port := freePort(t)
	a := configured(t, "a", "", fmt.Sprintf("ncpus = 1\ngui_rpc_port = %d\n", port))
	must(t, a.Start())
	c := tool{t, ctx, a.Dir, port}
	c.until([]string{"--client_version"}, `^Client version: `)

	c.wants([]string{"--acct_mgr", "info"}, `^Account manager info:`)
	if out, _ := c.run("--acct_mgr", "attach", m.URL, "Ann", "wrong"); !strings.Contains(out, "poll status: wrong password") && !strings.Contains(out, "bad password") {
		t.Errorf("with a wrong password: %s", out)
	}
	c.wants([]string{"--acct_mgr", "attach", m.URL, "Ann", "secret"}, `polling for reply`)
	c.wants([]string{"--acct_mgr", "info"}, `Name: Chooser`, `URL: `+m.URL)
	s := await(t, ctx, a, "the chosen project", func(s control.Status) bool {
		return len(s.Projects) == 1 && s.Projects[0].Initialized
	})
	if v := s.Projects[0]; v.MasterURL != p.URL || v.UserName != "ada" || v.Share != 30 || v.Manager != m.URL+"/" {
		t.Errorf("attached to %+v", v)
	}
	if out, code := c.run("--acct_mgr", "attach", "http://127.0.0.1:1/other/", "Ann", "secret"); code == 0 && !strings.Contains(out, "different AM") {
		t.Errorf("attached to another as well: %d %s", code, out)
	}
	m.says("<dont_request_more_work>1</dont_request_more_work>")
	c.wants([]string{"--acct_mgr", "sync"}, `polling for reply`)
	c.wants([]string{"--get_project_status"}, `don't request more work: yes`, `resource share: 100`)
	c.wants([]string{"--acct_mgr", "detach"})
	c.wants([]string{"--get_project_status"}, `don't request more work: no`)

	// The same with our own commands.
	if _, err := a.Run(ctx, "manager", "sync"); err == nil || !strings.Contains(err.Error(), "no account manager is in use") {
		t.Errorf("asked without one: %v", err)
	}
	if _, err := a.Run(ctx, "manager", "join", m.URL, "--name", "Ann", "--password", "wrong"); err == nil || !strings.Contains(err.Error(), "rejects the name or the password") {
		t.Errorf("with a wrong password: %v", err)
	}
	if _, err := a.Run(ctx, "manager", "join", p.URL, "--name", "Ann", "--password", "secret"); err == nil || !strings.Contains(err.Error(), "is a project, not an account manager") {
		t.Errorf("joined a project: %v", err)
	}
	if _, err := a.Run(ctx, "attach", m.URL, "--email", "ann@example.org", "--password", "secret9", "--create"); err == nil || !strings.Contains(err.Error(), "is an account manager, not a project") {
		t.Errorf("attached to a manager: %v", err)
	}
	m.says("<resource_share>20</resource_share>")
	for _, args := range [][]string{{"join", m.URL, "--name", "Ann", "--password", "secret"}, {"sync"}, {"status"}} {
		out, err := a.Run(ctx, append([]string{"manager"}, args...)...)
		if err != nil || !strings.Contains(out, "Chooser\n") || !strings.Contains(out, "e2e, share 20") {
			t.Errorf("manager %v: %v, %s", args, err, out)
		}
	}
	m.says("<detach>1</detach>")
	if _, err := a.Run(ctx, "manager", "sync"); err != nil {
		t.Error(err)
	}
	await(t, ctx, a, "the project to be gone", func(s control.Status) bool { return len(s.Projects) == 0 })
	if out, err := a.Run(ctx, "manager", "leave"); err != nil || !strings.Contains(out, "Left the account manager") {
		t.Errorf("leave: %v, %s", err, out)
	}
}
