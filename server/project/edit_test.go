package project_test

import (
	"reflect"
	"testing"

	"github.com/starling-grid/starling/server/project"
)

func TestEditSettings(t *testing.T) {
	const before = `# the project
long_name = "Demo"
master_url = "http://127.0.0.1/" # here
trusted_proxies = [
  "192.0.2.1", # database = "no"
  "192.0.2.2",
]
scheduler_urls = []

[plan_class.mt]
max_threads = 4
files = "not this one"
`
	const want = `# the project
long_name = "Demo"
master_url = "http://127.0.0.1/x/"
trusted_proxies = [
  "192.0.2.1", # database = "no"
  "192.0.2.2",
]
scheduler_urls = []

database = "postgres://a\"b"
files = ""
former_urls = ["http://127.0.0.1/"]

[plan_class.mt]
max_threads = 4
files = "not this one"
`
	got := project.EditSettings(before, map[string]any{
		"master_url": "http://127.0.0.1/x/", "database": `postgres://a"b`, "files": "", "former_urls": []string{"http://127.0.0.1/"},
	})
	if got != want {
		t.Errorf("got\n%s", got)
	}
	// The settings of a new project are edited in place.
	c := project.DefaultConfig()
	c.LongName, c.MasterURL = "Demo", "http://127.0.0.1/"
	text := project.EditSettings(c.Text(), map[string]any{"listen": ":1", "former_urls": []string{"http://127.0.0.1:80/y/"}})
	c.Listen, c.FormerURLs = ":1", []string{"http://127.0.0.1:80/y/"}
	if text != c.Text() {
		t.Errorf("got\n%s", text)
	}
	c.FormerURLs = []string{"http://127.0.0.1/y/"}
	text = project.EditSettings(text, map[string]any{"former_urls": c.FormerURLs})
	back, err := project.ParseConfig("server.toml", []byte(text))
	c.TrustedProxies = back.TrustedProxies
	if err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("got %+v, %v; want %+v", back, err, c)
	}
}
