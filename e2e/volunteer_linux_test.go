package e2e_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
)

// steps takes some seconds but hardly any CPU time, and saves its state at each step.
const steps = `#!/bin/sh
n=$(cat state 2>/dev/null || echo 0)
while [ "$n" -lt 100 ]; do
	sleep 0.1
	n=$((n + 1))
	echo $n >state.new && mv state.new state
done
echo $n >out
`

// TestVolunteer attaches an agent, controls it, and controls another one, by the commands of the
// handbook for volunteers and of the pages about preferences and several computers.
func TestVolunteer(t *testing.T) {
	t.Parallel()
	needs(t, "script")
	s := newStory(t)
	ctx := s.ctx
	p := newProject(t, ctx)
	s.write("steps", steps)
	s.env = append(s.env, "DIR="+p.Dir, "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "EDITOR=true")
	s.typed(`sed -i 's/^min_sendwork_interval = .*/min_sendwork_interval = 0/' $DIR/server.toml
starling-server app add $DIR steps
starling-server version add $DIR steps --platform x86_64-pc-linux-gnu --version 1.00 --main ./steps --plain --checkpoint state
starling-server work create $DIR steps --name long`)
	serve(t, ctx, p)
	a := newAgent(t, "a")
	for _, err := range []error{a.Start(), a.Reach(ctx)} {
		must(t, err)
	}
	s.env = append(s.env, "STARLING_DATA="+a.Dir)

	s.call("https://project.example/", p.URL)
	s.call("ACCOUNT_KEY", p.Key)
	s.write("password.txt", "secret of you\n")
	attach := s.take("volunteers.md", "starling attach https://project.example/ --key").Commands()
	s.typed("starling mode never")
	for _, i := range []int{2, 1, 0} { // the last one creates the account of the second one
		s.prints(s.typed(attach[i]), "Attached to ")
		if i > 0 {
			s.typed("starling detach --now https://project.example/")
		}
	}
	s.typed("starling mode always")
	task := await(t, ctx, a, "the task", func(st control.Status) bool { return len(st.Tasks) == 1 && st.Tasks[0].Running }).Tasks[0].Name

	s.call("Einstein", "e2e")
	s.call("task suspend TASK", "task suspend "+task)
	s.follow("volunteers.md", "starling mode never --for 2h")
	st := await(t, ctx, a, "the task to stop", func(st control.Status) bool { return !st.Tasks[0].Running })
	if v := st.Projects[0]; st.RunMode != "never" || !v.Suspended || !v.NoMoreWork || v.Share != 200 || !st.Tasks[0].Suspended {
		t.Errorf("after the commands, the status is %+v", st)
	}
	s.prints(s.typed("starling prefs show"), "max_cpus")
	s.drain(a, task)
	s.preferences()
	s.computers(p)
}

// drain finishes work before a shutdown. A program in place of systemctl notes its arguments.
func (s *story) drain(a *testhost.Agent, task string) {
	s.t.Helper()
	s.write("bin/systemctl", "#!/bin/sh\necho \"$@\" >>"+s.dir+"/shutdown\n")
	s.env = append(s.env, "PATH="+s.dir+"/bin:"+string(bin)+":"+os.Getenv("PATH"))
	drain := s.take("volunteers.md", "starling drain --then poweroff").Commands()
	s.typed(drain[0])
	if got := s.typed("cat shutdown"); got != "poweroff\n" {
		s.t.Errorf("after the drain, systemctl is called with %q", got)
	}
	s.typed(drain[3] + "\nstarling mode always\nstarling resume Einstein\nstarling task resume " + task)
	await(s.t, s.ctx, a, "the task to resume", func(st control.Status) bool { return st.Tasks[0].PID > 0 })
	s.typed(drain[1])
	await(s.t, s.ctx, a, "the task to stop at its checkpoint", func(st control.Status) bool { return !st.Tasks[0].Running && st.Tasks[0].Fraction < 1 })
	s.typed(drain[3])
	s.typed(drain[2])
	if st := await(s.t, s.ctx, a, "the status", func(control.Status) bool { return true }); len(st.Tasks) > 0 {
		s.t.Errorf("after a complete drain, there are the tasks %+v", st.Tasks)
	}
	s.typed(drain[3])
}

// preferences sets preferences and unsets them.
func (s *story) preferences() {
	s.t.Helper()
	out := s.follow("preferences.md", "starling prefs show")
	for _, line := range []string{`(?m)^max_cpus +2 `, `(?m)^#? ?max_cpus = `} {
		if !regexp.MustCompile(line).MatchString(out) {
			s.t.Errorf("nothing like %s in %s", line, out)
		}
	}
	s.follow("gpus.md", "starling prefs set max_gpu_temperature")
	shown := s.typed("starling prefs show")
	if regexp.MustCompile(`(?m)^max_cpus +2 `).MatchString(shown) || !regexp.MustCompile(`(?m)^max_gpu_temperature +80 `).MatchString(shown) {
		s.t.Errorf("afterward, the preferences are %s", shown)
	}
}

// computers controls another agent, and lets an account manager choose its projects.
func (s *story) computers(p *testhost.Project) {
	s.t.Helper()
	port, err := testhost.FreePort()
	if err != nil {
		s.t.Fatal(err)
	}
	there := newAgentWith(s.t, "there", fmt.Sprintf("remote_port = %d\n", port))
	for _, err := range []error{there.Start(), there.Reach(s.ctx)} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
	pair := s.take("computers.md", "starling remote pair").Commands()
	code := regexp.MustCompile(`\b\w{4}(-\w{4}){3}\b`).FindString(s.typed("export STARLING_DATA=" + there.Dir + "\n" + pair[0]))
	s.call("HOST", fmt.Sprint("127.0.0.1:", port))
	s.call("7K2M-9QXD-4TBH-W0ZP", code)
	s.typed(pair[1])
	s.prints(s.typed(pair[2]), "No projects are attached")

	m := newAccountManager(s.t, p.URL, "<authenticator>"+p.Key+"</authenticator>")
	s.call("https://bam.boincstats.com/", m.URL)
	s.call("YOU", "Ann")
	manager := s.take("computers.md", "starling manager join").Commands()
	s.env = append(s.env, "STARLING_DATA="+there.Dir)
	s.typed("echo secret | script --quiet --return --command '" + manager[0] + "' /dev/null")
	await(s.t, s.ctx, there, "the manager's project", func(st control.Status) bool { return len(st.Projects) == 1 })
	s.prints(s.typed(strings.Join(manager[1:], "\n")), "Chooser")
	s.prints(s.typed("starling manager status"), "No account manager is in use")
}
