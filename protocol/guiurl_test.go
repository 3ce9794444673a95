package protocol_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func TestParseGUIURLs(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want []protocol.GUIURL
	}{
		{"", nil},
		{`
    <gui_url>
        <name>Your account</name>
        <description>View your account &amp; credit</description>
        <url>https://p.example/home.php?a=1&amp;b=2</url>
    </gui_url>
    <ifteam>
    <gui_url>
        <name>Team</name>
        <url>https://p.example/team</url>
    </gui_url>
    </ifteam>`, []protocol.GUIURL{
			{Name: "Your account", Description: "View your account & credit", URL: "https://p.example/home.php?a=1&b=2"},
			{Name: "Team", URL: "https://p.example/team"},
		}},
		{"<gui_url><name>x</name></gui_url><gui_url><url>https://p.example/</url></gui_url>", nil},
		{"<gui_url><name>a\x1b[1m\nb</name><url>https://p.example/</url></gui_url><gui_url><name>cut", []protocol.GUIURL{{Name: "a[1m b", URL: "https://p.example/"}}},
	} {
		if got := protocol.ParseGUIURLs(tt.raw); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, want %+v", tt.raw, got, tt.want)
		}
	}
	if got := protocol.ParseGUIURLs(strings.Repeat("<gui_url><name>x</name><url>https://p.example/</url></gui_url>", 1000)); len(got) != 30 {
		t.Errorf("%d links of one project", len(got))
	}
}
