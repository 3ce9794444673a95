package reason_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/reason"
)

func TestMessages(t *testing.T) {
	for _, c := range []struct{ messages, want []string }{
		{nil, nil},
		{[]string{"No tasks sent"}, []string{"No tasks sent"}},
		{[]string{"No tasks sent", "Project has no tasks available"}, []string{"Project has no tasks available"}},
		{[]string{"No work sent", "a", "b"}, []string{"a", "b"}},
		{[]string{"Welcome", "No tasks sent"}, []string{"Welcome", "No tasks sent"}},
	} {
		if got := reason.Messages(c.messages); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.messages, got, c.want)
		}
	}
}

func TestRefusalsAreFoundInWhatServersSay(t *testing.T) {
	for _, tt := range []struct {
		said string
		want reason.Code
	}{
		{"Invalid or missing account key.  To fix, remove and add this project.", reason.KeyRefused},
		{"This project doesn't support computers of type z80-cpm", reason.PlatformRefused},
		{"This project doesn't support computers of type anonymous", reason.OwnRefused},
		{"Your app_info.xml has no version of upper that this computer can use", ""},
		{"This project doesn't support CPU type Zilog Z80", reason.PlatformRefused},
		{"Your BOINC client software is too old.  Please install the current version.", reason.ClientTooOld},
		{"Not accepting requests from this host", reason.ComputerRefused},
		{"The project has changed its security key.  Please remove and add this project.", reason.SigningKeyChanged},
		{"Error in request message: xp.get_tag() failed", reason.ReplyUnusable},
		{"VirtualBox is not installed", reason.NoVirtualBox},
		{"Docker not present", reason.NoContainers},
		{"Project has no tasks available", ""},
		{"In 5 days and 3 hours, this project will require a minimum BOINC version of 9.0.0.", ""},
	} {
		got := reason.OfReply([]string{"no_tasks"}, []string{"Hello", tt.said})
		if got.Code != tt.want {
			t.Errorf("%q: got %q, want %q", tt.said, got.Code, tt.want)
		}
		if got.Refusal() && !strings.Contains(got.Text(now).String(), tt.said) {
			t.Errorf("%q is not quoted: %q", tt.said, got.Text(now))
		}
	}
}

// Starling's server gives codes, and its sentences may be anything.
func TestRefusalsWithCodesNeedNoWords(t *testing.T) {
	for code, want := range map[string]reason.Code{
		"app_info": reason.OwnRefused, "client_version": reason.ClientTooOld, "code_sign_key": reason.SigningKeyChanged,
		"virtualbox": reason.NoVirtualBox, "containers": reason.NoContainers, "no_tasks": "", "excluded": "",
	} {
		got := reason.OfReply([]string{"other", code}, []string{"No tasks sent", "Das geht hier nicht"})
		if got.Code != want || want != "" && !strings.Contains(got.Text(now).String(), " It says: Das geht hier nicht") {
			t.Errorf("%s: got %+v", code, got)
		}
	}
}
