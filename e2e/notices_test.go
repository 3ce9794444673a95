package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// TestNews checks that a project's news reaches its volunteers: with our agent by the command line
// and Debian's boinccmd, and with BOINC's own client, both with the same text.
func TestNews(t *testing.T) {
	t.Parallel()
	ctx := patience(t)
	p := newProject(t, ctx)
	folder := filepath.Join(p.Dir, "site", "news")
	article := "# A prime & more\n\nWe *found* one.\n\n- Read [all of it](https://p.example/a?b=1&c=2)\n\n<script>alert(1)</script>\n"
	old := "# Long ago\n\nOld.\n"
	today := time.Now().UTC()
	if err := errors.Join(os.MkdirAll(folder, 0o755),
		os.WriteFile(filepath.Join(folder, today.Format(time.DateOnly)+"-prime.md"), []byte(article), 0o600),
		os.WriteFile(filepath.Join(folder, today.AddDate(0, 0, -40).Format(time.DateOnly)+"-old.md"), []byte(old), 0o600)); err != nil {
		t.Fatal(err)
	}
	serve(t, ctx, p)
	a, port := newSteered(t, "a")
	startAgent(t, ctx, a, p)
	s := await(t, ctx, a, "the news", func(s control.Status) bool { return len(s.Notices) > 0 })
	if n := s.Notices[0]; len(s.Notices) != 1 || n.Title != "A prime & more" || !strings.HasPrefix(n.Link, p.URL+"news#") || n.Kind != control.News {
		t.Errorf("notices %+v", s.Notices)
	}
	out, err := a.Run(ctx, "notices")
	if want := "  We found one.\n\n  • Read all of it (https://p.example/a?b=1&c=2)\n"; err != nil || !strings.Contains(out, want) || strings.Contains(out, "alert") || strings.Contains(out, "Long ago") {
		t.Errorf("starling notices: %v\n%s\nwant %q", err, out, want)
	}
	c := tool{t, ctx, a.Dir, port}
	const line = `^1: .*<p>We <em>found</em> one\.</p>`
	c.until([]string{"--get_notices"}, line)
	if got := c.wants([]string{"--get_notices", "1"}); strings.Contains(got, "found") {
		t.Errorf("above the last number: %s", got)
	}
	links := s.Projects[0].GUIURLs
	if len(links) == 0 || links[0].Name != "Your account" || links[0].URL != p.URL+"account" {
		t.Errorf("links %+v", links)
	}
	c.wants([]string{"--get_state"}, `GUI URL:`, `name: Your account`, `URL: `+p.URL+`account`)
	c.wants([]string{"--get_project_status"}, `name: Leaderboards`)
	b := startBOINC(t, ctx)
	b.do(ctx, "--project_attach", p.URL, p.Key)
	tool{t, ctx, b.dir, b.port}.until([]string{"--get_notices"}, line)
}
