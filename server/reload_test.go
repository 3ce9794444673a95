package server_test

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/server"
	"github.com/starling-grid/starling/server/project"
)

// A server applies new settings where it can, and logs the ones that need a restart.
func TestReload(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var log lockedBuffer
	p, err := project.Open(t.Context(), w.dir, slog.New(slog.NewTextHandler(&log, nil)))
	w.must(err)
	defer p.Close()
	l := listen(t)
	fresh := make(chan project.Config)
	s := server.New(p, server.Part{})
	s.Reload = fresh
	stop := served(t, s, l)
	config := func() string {
		res, err := http.Get("http://" + l.Addr().String() + "/demo/get_project_config.php") //nolint:noctx // on loopback
		w.must(err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		w.must(err)
		return string(b)
	}
	if got := config(); !strings.Contains(got, "<name>Demo</name>") {
		t.Errorf("before: %s", got)
	}
	w.edit(`long_name = "Demo"`, `long_name = "Changed"`, "\nlisten = \"\"", "\nlisten = \":1\"", "min_passwd_length = 6", "min_passwd_length = 9")
	for range 2 { // the second time the settings are the same
		c, err := project.ReadConfig(w.dir)
		w.must(err)
		fresh <- c
	}
	bad, err := project.ReadConfig(w.dir)
	w.must(err)
	bad.LongName, bad.TrustedProxies = "Bad", []string{"x"}
	fresh <- bad
	fresh <- bad // when this is taken, the first was looked at
	if got := config(); !strings.Contains(got, "<name>Changed</name>") || !strings.Contains(got, "<min_passwd_length>9</min_passwd_length>") {
		t.Errorf("after: %s", got)
	}
	stop()
	for _, want := range []string{`msg="settings changed" keys="long_name min_passwd_length"`, `msg="settings need a restart" keys=listen`, "nothing to change", "the previous ones stay in effect"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in the log: %s", want, log.String())
		}
	}
}

func TestReloadedSettings(t *testing.T) {
	t.Parallel()
	old := project.DefaultConfig()
	fresh := project.DefaultConfig()
	fresh.Database, fresh.TrustedProxies, fresh.DailyResultQuota, fresh.AdminListen = "postgres://x/y", []string{"192.0.2.1"}, 7, ":1"
	merged, changed, restart := old.Reload(fresh)
	if !slices.Equal(changed, []string{"daily_result_quota", "trusted_proxies"}) || !slices.Equal(restart, []string{"database", "admin_listen"}) {
		t.Errorf("changed %v, restart %v", changed, restart)
	}
	if merged.Database != "" || merged.DailyResultQuota != 7 || merged.AdminListen != "" {
		t.Errorf("got %+v", merged)
	}
}
