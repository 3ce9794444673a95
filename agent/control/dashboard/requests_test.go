package dashboard

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// Each tab's address is answered with the page. Addresses that do not exist are not.
func TestAddresses(t *testing.T) {
	port, login := site(t, new(agent))
	base, cookie := "http://127.0.0.1:"+port, enter(t, login)
	for path, want := range map[string]int{
		"/": 200, "/tasks": 200, "/history": 200, "/log?line=3": 200, "/app.js": 200, "/nothing.js": 404, "/api/nothing": 404,
	} {
		resp, body := ask(t, http.MethodGet, base+path, "", "Cookie", cookie)
		if resp.StatusCode != want || want == http.StatusOK && !strings.HasSuffix(path, ".js") && !strings.Contains(body, `src="/app.js"`) {
			t.Errorf("%s: %s, want %d: %.80q", path, resp.Status, want, body)
		}
	}
	if resp, _ := ask(t, http.MethodGet, base+"/tasks", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a tab without the token: %s", resp.Status)
	}
}

// The page's requests for single tasks, many tasks, and projects before they are attached.
func TestTasksAndAccounts(t *testing.T) {
	a := &fake{page: busy(100)}
	s, login := serve(t, a)
	s.Known = []Known{{Name: "P", URL: einstein, Area: "area", About: "about"}}
	base, cookie := "http://127.0.0.1:"+login.Port(), enter(t, login)
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodGet, "/api/task?project=" + url.QueryEscape(einstein) + "&task=h1_0421.50_O4_3_0", "", 200, `"workunit":"h1_0421.50_O4_3"`},
		{http.MethodGet, "/api/task?project=x&task=y", "", 422, `no such task`},
		{http.MethodPost, "/api/tasks", `{"action":"suspend","tasks":[{"project":"` + einstein + `","task":"h1_0421.50_O4_3_0"},{"project":"x","task":"y"}]}`, 200, `{"tasks":1}`},
		{http.MethodPost, "/api/tasks", `{"action":"suspend","tasks":[` + strings.Repeat(`{"project":"`+einstein+`","task":"`+strings.Repeat("x", 60)+`"},`, 10000) + `{}]}`, 200, `{"tasks":0}`},
		{http.MethodPost, "/api/tasks", strings.Repeat(" ", maxTasks) + `{}`, 400, "invalid request"},
		{http.MethodGet, "/api/known", "", 200, `[{"name":"P","url":"` + einstein + `","area":"area","about":"about"}]`},
		{http.MethodPost, "/api/attach/config", `{"url":"p.example"}`, 200, `{"name":"PrimeGrid","url":"http://p.example/","platforms":["x86_64-pc-linux-gnu","windows_x86_64"],"plan_classes":["cuda"],"closed":false,"uses_username":false,"min_password":6,"terms":"Be kind."}`},
		{http.MethodPost, "/api/attach/config", `{"url":"ftp://p.example"}`, 422, `error`},
		{http.MethodPost, "/api/attach", `{"url":"p.example","email":"a@b.example","password":"secret7"}`, 422, `{"code":"no_account","error":"No account with this address."}`},
		{http.MethodPost, "/api/attach", `{"url":"p.example","email":"a@b.example","password":"secret7","create":true}`, 422, `enter the public name`},
		{http.MethodPost, "/api/attach", `{"url":"p.example","email":"a@b.example","password":"secret7","create":true,"name":"A"}`, 200, `{"project":"http://p.example/"}`},
	} {
		resp, got := ask(t, tt.method, base+tt.path, tt.body, "Cookie", cookie)
		if resp.StatusCode != tt.status || !strings.Contains(got, tt.want) {
			t.Errorf("%s %.90s: %s: %.200s, want %s", tt.path, tt.body, resp.Status, got, tt.want)
		}
	}
	a.wasAsked(t, "attach http://p.example/ newkey")
}

// A project that is reached by TLS does not talk people out of it.
func TestMasterURL(t *testing.T) {
	for _, tt := range [][3]string{
		{"https://p.example/", "https://q.example/", "https://q.example/"},
		{"https://p.example/", "http://p.example/", "https://p.example/"},
		{"http://p.example/", "https://p.example/", "https://p.example/"},
		{"http://p.example/", "nonsense nonsense", "http://p.example/"},
	} {
		if got := masterURL(tt[0], &protocol.ProjectConfig{MasterURL: tt[1]}); got != tt[2] {
			t.Errorf("%s calling itself %s: got %s, want %s", tt[0], tt[1], got, tt[2])
		}
	}
}
