package e2e_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/internal/testhost"
)

// TestDeveloper serves a project for tests by the commands of testing.md, and computes one of its tasks.
func TestDeveloper(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	port, err := testhost.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	s.call("127.0.0.1:8080", fmt.Sprint("127.0.0.1:", port))
	printed := s.follow("testing.md", "starling-server dev --listen")
	var project struct{ URL, Authenticator, Dir string }
	if err := json.Unmarshal([]byte(regexp.MustCompile(`(?m)^{"url".*`).FindString(printed)), &project); err != nil {
		t.Fatal(err)
	}
	s.join("a", project.URL, project.Authenticator)
	s.typed("until starling-server status " + project.Dir + " --json | grep '\"canonical\": *[1-9]'; do :; done")

	s.write("request.xml", "<scheduler_request>\n<authenticator>"+project.Authenticator+"</authenticator>\n</scheduler_request>\n")
	request := s.take("testing.md", "curl -H 'Starling-Fault: lose-reply'").Text
	if out, err := s.try(request); err == nil || !strings.Contains(out, "Empty reply from server") {
		t.Errorf("with the fault, the answer is %s, %v", out, err)
	}
	s.prints(s.typed(strings.Replace(request, "lose-reply", "none", 1)), "<scheduler_reply>")
}
