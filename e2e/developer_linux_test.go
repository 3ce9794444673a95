package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

// TestDeveloper serves a project for tests by the commands of testing.md, and computes one of its tasks.
func TestDeveloper(t *testing.T) {
	t.Parallel()
	needs(t, "curl")
	s := newStory(t)
	port := freePort(t)
	s.call("127.0.0.1:8080", fmt.Sprint("127.0.0.1:", port))
	s.call("/tmp/starling-dev", os.TempDir()+"/starling-dev")
	printed := s.follow("testing.md", "starling-server dev --listen")
	var project struct{ URL, Authenticator, Dir string }
	must(t, json.Unmarshal([]byte(regexp.MustCompile(`(?m)^{"url".*`).FindString(printed)), &project))
	a := s.join("a", project.URL, project.Authenticator)
	p := testhost.Project{Bin: bin, Dir: project.Dir}
	testwait.Try(t, s.ctx, "a valid result", func() error {
		if c, err := p.Count(s.ctx); err != nil || c.Workunits.Canonical == 0 {
			return errors.Join(err, fmt.Errorf("%+v", c.Workunits))
		}
		return nil
	})
	must(t, a.Stop())

	s.call("http://127.0.0.1:8080/demo/", project.URL)
	s.call("--hosts 500", "--hosts 5 --tasks 20")
	s.call("--duration 1m", "--hosts 5 --duration 200ms")
	s.call("$(pgrep -d, starling-server)", fmt.Sprint(os.Getpid()))
	s.write("keyfile", project.Authenticator)
	s.prints(s.follow("performance.md", "starling-server load"), "dispatched and reported", `"tasks_per_second"`)

	s.write("request.xml", "<scheduler_request>\n<authenticator>"+project.Authenticator+"</authenticator>\n</scheduler_request>\n")
	request := s.take("testing.md", "curl -H 'Starling-Fault: lose-reply'").Text
	if out, err := s.try(request); err == nil || !strings.Contains(out, "Empty reply from server") {
		t.Errorf("with the fault, the answer is %s, %v", out, err)
	}
	s.prints(s.typed(strings.Replace(request, "-H 'Starling-Fault: lose-reply'", "", 1)), "<scheduler_reply>")
}
