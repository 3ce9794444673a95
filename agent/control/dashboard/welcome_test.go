package dashboard

import (
	"errors"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/protocol"
)

// newcomer is an agent without a project. Its projects answer with config.
func newcomer(config func(u string) (*protocol.ProjectConfig, error)) *fake {
	a := &fake{page: busy(0), config: config}
	a.page.Status.Projects, a.page.Status.Achieved, a.page.Credit = nil, nil, nil
	return a
}

func TestFirstRun(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	b, base := open(t, newcomer(func(u string) (*protocol.ProjectConfig, error) {
		<-answer
		return suitable(u), nil
	}))
	const places = `JSON.stringify([...document.querySelectorAll('#welcome button')].map(e => e.getBoundingClientRect().top))`
	b.See("buttons, though no project has answered", `document.getElementById('welcome-go')?.offsetHeight > 0`)
	b.See("and remember where they are", `(places = `+places+`) !== ""`)
	close(answer)
	b.See("nothing but the question", `getComputedStyle(document.getElementById('tabs')).visibility === 'hidden' && document.querySelector('#welcome h2').textContent === 'Give this computer’s spare time to science'`)
	b.See("the projects, of which the first is chosen", `[...document.querySelectorAll('.choose')].map(e => e.innerText.replaceAll('\n', ' ')).join('|') ===
		'PrimeGrid Mathematics Searches for record primes of many kinds. Has applications for this computer|' +
		'Einstein@Home Astronomy Searches for pulsars and gravitational waves in data from telescopes and detectors. Has applications for this computer|' +
		'World Community Grid Medicine Studies cancer markers, rainfall in Africa and other questions of public benefit. Has applications for this computer' && document.querySelector('.choose input').checked`)
	b.See("what a task may touch", `document.getElementById('welcome-touch').textContent.startsWith('Its own files and')`)
	b.See("what the button does", `document.getElementById('welcome-go').textContent === 'Continue with PrimeGrid'`)
	b.See("that no button has moved", places+` === places`)
	b.Accessible("the first run")
	b.Picture("empty")
	b.Do("in the dark", testbrowser.Media("dark"))
	b.Accessible("the first run in the dark")
	b.Do("choose another", chromedp.Click(`.choose:nth-of-type(2)`))
	b.See("what the button does now", `document.getElementById('welcome-go').textContent === 'Continue with Einstein@Home'`)
	b.Do("continue", testbrowser.Press("#welcome-go"))
	b.See("the account", `document.getElementById('attach').open && !document.getElementById('attach-account').hidden && document.getElementById('attach-needs').textContent.startsWith('`+einstein+`')`)
	b.Do("think again", chromedp.Click(`//form[@id="attach-account"]//button[text()="Cancel"]`), chromedp.Click(`//button[text()="See all projects"]`))
	b.See("all of them", `document.querySelectorAll('#attach-known button:not(:disabled)').length === 3`)
	b.Do("type an address", chromedp.Click(`//form[@id="attach-choose"]//button[text()="Cancel"]`), chromedp.Click(`//button[text()="Enter a project’s address"]`))
	b.See("its field", `document.activeElement.id === 'attach-url'`)
	b.Do("be a phone", chromedp.Navigate(base+"/"), chromedp.EmulateViewport(320, 640))
	b.See("the button", `document.getElementById('welcome-go')?.disabled === false`)
	b.See("not wider than the phone", `document.documentElement.scrollWidth <= 320`)
}

func TestFirstRunWithoutNetwork(t *testing.T) {
	t.Parallel()
	a := newcomer(func(u string) (*protocol.ProjectConfig, error) { return nil, errors.New(u + " cannot be reached") })
	b, _ := open(t, a)
	b.See("that none answers", `document.querySelector('#welcome [role=alert]:not([hidden])')?.textContent === 'No project answers. Check the network. Try again' && document.getElementById('welcome-go').disabled`)
	b.See("why", `document.querySelector('.choose .bad').textContent === 'https://www.primegrid.example/ cannot be reached'`)
	a.mu.Lock()
	a.config = func(u string) (*protocol.ProjectConfig, error) {
		platform := "x86_64-pc-linux-gnu"
		if strings.Contains(u, "primegrid") {
			platform = "windows_x86_64"
		}
		return &protocol.ProjectConfig{Name: "P", MasterURL: u, Platforms: []protocol.ConfigPlatform{{Name: platform}}}, nil
	}
	a.mu.Unlock()
	b.Do("try again", testbrowser.Press("#welcome [role=alert] button"))
	b.See("one that does not suit this computer cannot be chosen", `document.querySelector('.choose input').disabled && document.querySelector('.choose').innerText.endsWith('Has no applications for this computer')`)
	b.See("another is", `document.getElementById('welcome-go').textContent === 'Continue with Einstein@Home' && !document.getElementById('welcome-go').disabled`)
}

func TestJoinAManager(t *testing.T) {
	t.Parallel()
	a := newcomer(func(u string) (*protocol.ProjectConfig, error) {
		return &protocol.ProjectConfig{Name: "BAM!", MasterURL: u, AccountManager: strings.Contains(u, "bam")}, nil
	})
	b, base := open(t, a)
	b.Do("type its address", testbrowser.Press("#welcome-join"), chromedp.SendKeys("#attach-url", "https://bam.example/"), testbrowser.Press("#attach-choose .primary"))
	b.See("what is asked", `document.getElementById('attach-title').textContent === 'Join BAM!' && document.querySelector('#attach-account label[for=attach-email]').textContent === 'Name or e-mail address' &&
		!document.getElementById('attach-create').offsetHeight && !document.getElementById('attach-key').offsetHeight`)
	b.Accessible("joining an account manager")
	b.Do("be nobody", chromedp.SendKeys("#attach-email", "nobody"), chromedp.SendKeys("#attach-password", "secret7"), testbrowser.Press("#attach-account .primary"))
	b.See("the refusal", `document.getElementById('attach-fault').textContent === 'The account manager rejects the name or the password.'`)
	b.Do("join", chromedp.SetValue("#attach-email", "anna"), testbrowser.Press("#attach-account .primary"))
	b.See("that the manager chooses", `!document.getElementById('attach').open && document.getElementById('welcome-manager').textContent === 'Your account manager, BAM!, will choose the projects.'`)
	if got := a.last(); got != "join https://bam.example/ anna true" {
		t.Errorf("asked: %s", got)
	}
	a.change(func(p *view.Page) { p.Status.Projects = busy(1).Status.Projects })
	b.Do("look at the projects", chromedp.Navigate(base+"/projects"))
	b.See("who chooses them", `document.getElementById('manager').textContent.startsWith('Your account manager BAM! chooses the projects.')`)
	b.Do("contact it", testbrowser.Press("#manager button:nth-of-type(1)"))
	b.See("that it was", `document.getElementById('said').textContent === 'The account manager was contacted.'`)
	b.Do("leave it", testbrowser.Press("#manager button:nth-of-type(2)"), testbrowser.Press("#sure-yes"))
	b.See("that it is gone", `!document.getElementById('manager').offsetHeight`)
	if got := a.last(); got != "leave false" {
		t.Errorf("asked: %s", got)
	}
}

func TestFirstRunWithAManager(t *testing.T) {
	t.Parallel()
	a := newcomer(nil)
	a.page.Status.Manager = &control.Manager{Name: "BAM!", URL: "https://bam.example/"}
	b, _ := open(t, a)
	b.See("that the manager chooses", `document.getElementById('welcome-manager').textContent === 'Your account manager, BAM!, will choose the projects.' && !document.getElementById('welcome-go').offsetHeight && !document.getElementById('welcome-projects').offsetHeight`)
}

func TestTouch(t *testing.T) {
	const signed = " Only programs that the project signed can run."
	for _, tt := range []struct {
		name string
		c    Confinement
		want string
	}{
		{"Linux", Confinement{"linux", true, true, false}, "Its own files and its project's files. Not your documents, not other programs, not other projects. Tasks can use the network." + signed},
		{"without the network", Confinement{"linux", true, false, false}, "Its own files and its project's files. Not your documents, not other programs, not other projects. Tasks cannot open connections." + signed},
		{"with machines", Confinement{"windows", true, true, true}, "A task can change only files of tasks, but can read those of the agent's user." + signed + " Virtual machines and containers run outside the sandbox."},
		{"a system without a sandbox", Confinement{"darwin", true, true, true}, "Tasks run with the rights of the agent's user." + signed},
		{"the sandbox is off", Confinement{"linux", false, true, true}, "Tasks run with the rights of the agent's user." + signed},
	} {
		if got := tt.c.touch(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
