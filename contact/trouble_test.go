package contact_test

import (
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/contact"
)

// TestEveryCauseHasASentenceAndACure reads all of them as people do.
func TestEveryCauseHasASentenceAndACure(t *testing.T) {
	seen := make(map[contact.TroubleCode]bool)
	for _, s := range contact.Sayings {
		if seen[s.Code] {
			t.Errorf("%s is there twice", s.Code)
		}
		seen[s.Code] = true
		for _, about := range []string{"", "p.example"} {
			x := contact.Trouble{Code: s.Code, About: about}
			for _, text := range []string{x.Cause(), x.Cure("http://p.example/")} {
				if text == "" || strings.Contains(text, "%") {
					t.Errorf("%s about %q: %q", s.Code, about, text)
				}
			}
			if c := x.Cause(); !strings.HasSuffix(c, ".") || strings.Contains(strings.TrimSuffix(c, "."), ". ") && !x.Refusal() {
				t.Errorf("%s: not one sentence: %q", s.Code, c)
			}
			if !strings.Contains(x.Cure("http://p.example/"), "http://p.example/") {
				t.Errorf("%s: the cure names no command for the project: %q", s.Code, x.Cure("http://p.example/"))
			}
		}
	}
	if none := (contact.Trouble{}); none.Is() || none.Cause() != "" || none.Cure("u") != "" {
		t.Error("no trouble is one")
	}
	if x := (contact.Trouble{Code: "of_a_later_version"}); x.Cause() == "" || strings.Contains(x.Cure("u"), "%") {
		t.Errorf("unknown: %q, %q", x.Cause(), x.Cure("u"))
	}
}

func TestRefusalsAreFoundInWhatServersSay(t *testing.T) {
	for _, tt := range []struct {
		said string
		want contact.TroubleCode
	}{
		{"Invalid or missing account key.  To fix, remove and add this project.", contact.KeyRefused},
		{"This project doesn't support computers of type z80-cpm", contact.PlatformRefused},
		{"This project doesn't support computers of type anonymous", contact.OwnRefused},
		{"This project sends no tasks for programs of your own. To get tasks, remove app_info.xml from the project's folder and restart the client.", contact.OwnRefused},
		{"Your app_info.xml has no version of an application of this project, so this computer gets no tasks", contact.OwnRefused},
		{"Your app_info.xml has no version of upper that this computer can use", ""},
		{"This project doesn't support CPU type Zilog Z80", contact.PlatformRefused},
		{"Your BOINC client software is too old.  Please install the current version.", contact.ClientTooOld},
		{"This project needs BOINC 99.0.0 or newer, and this computer runs 8.2.15. To get tasks, install a newer version.", contact.ClientTooOld},
		{"Not accepting requests from this host", contact.ComputerRefused},
		{"The project has changed its security key.  Please remove and add this project.", contact.SigningKeyChanged},
		{"Error in request message: xp.get_tag() failed", contact.ReplyUnusable},
		{"VirtualBox is not installed", contact.NoVirtualBox},
		{"Tasks of upper need VirtualBox 6.1.0 or newer, and this computer has 5.2.44", contact.NoVirtualBox},
		{"Docker not present", contact.NoContainers},
		{"Tasks of upper need Podman or Docker, which this computer does not offer", contact.NoContainers},
		{"Project has no tasks available", ""},
		{"In 5 days and 3 hours, this project will require a minimum BOINC version of 9.0.0.", ""},
	} {
		got := contact.Refused([]string{"Hello", tt.said})
		if got.Code != tt.want {
			t.Errorf("%q: got %q, want %q", tt.said, got.Code, tt.want)
		}
		if got.Refusal() && !strings.Contains(got.Cause(), tt.said) {
			t.Errorf("%q is not quoted: %q", tt.said, got.Cause())
		}
	}
}

func TestTroubleKeepsItsStart(t *testing.T) {
	first := contact.Trouble{Code: contact.ServerDown}.After(contact.Trouble{}, now)
	if again := (contact.Trouble{Code: contact.ServerDown}).After(first, now.Add(time.Hour)); !again.Since.Equal(now) {
		t.Errorf("since %v", again.Since)
	}
	if other := (contact.Trouble{Code: contact.NotFound}).After(first, now.Add(time.Hour)); !other.Since.Equal(now.Add(time.Hour)) {
		t.Errorf("since %v", other.Since)
	}
}
