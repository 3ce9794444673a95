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
	for _, s := range contact.Messages {
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
		{"Your app_info.xml has no version of upper that this computer can use", ""},
		{"This project doesn't support CPU type Zilog Z80", contact.PlatformRefused},
		{"Your BOINC client software is too old.  Please install the current version.", contact.ClientTooOld},
		{"Not accepting requests from this host", contact.ComputerRefused},
		{"The project has changed its security key.  Please remove and add this project.", contact.SigningKeyChanged},
		{"Error in request message: xp.get_tag() failed", contact.ReplyUnusable},
		{"VirtualBox is not installed", contact.NoVirtualBox},
		{"Docker not present", contact.NoContainers},
		{"Project has no tasks available", ""},
		{"In 5 days and 3 hours, this project will require a minimum BOINC version of 9.0.0.", ""},
	} {
		got := contact.Refused([]string{"no_tasks"}, []string{"Hello", tt.said})
		if got.Code != tt.want {
			t.Errorf("%q: got %q, want %q", tt.said, got.Code, tt.want)
		}
		if got.Refusal() && !strings.Contains(got.Cause(), tt.said) {
			t.Errorf("%q is not quoted: %q", tt.said, got.Cause())
		}
	}
}

// Starling's server gives codes, and its sentences may be anything.
func TestRefusalsWithCodesNeedNoWords(t *testing.T) {
	for code, want := range map[string]contact.TroubleCode{
		"app_info": contact.OwnRefused, "client_version": contact.ClientTooOld, "code_sign_key": contact.SigningKeyChanged,
		"virtualbox": contact.NoVirtualBox, "containers": contact.NoContainers, "no_tasks": "", "excluded": "",
	} {
		got := contact.Refused([]string{"other", code}, []string{"No tasks sent", "Das geht hier nicht"})
		if got.Code != want || want != "" && !strings.Contains(got.Cause(), " It says: Das geht hier nicht") {
			t.Errorf("%s: got %+v", code, got)
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
