package words

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const german Language = "de"

func TestTextInLanguages(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		text            Text
		english, german string
	}{
		{Text{}, "", ""},
		{Plain("BRP4 {x}"), "BRP4 {x}", "BRP4 {x}"},
		{T("You suspended this task."), "You suspended this task.", "Sie haben diese Aufgabe angehalten."},
		{Count(1, "task"), "1 task", "1 Aufgabe"},
		{Count(2, "task"), "2 tasks", "2 Aufgaben"},
		{Bytes[int64](1536), "1.5 KB", "1,5 KB"},
		{Number(1204), "1,204", "1.204"},
		{T("{a} {b}", "a", 1e6, "b", Float(1e30)), "1000000 1e30", "1000000 1e30"},
		{When(now.Add(24*time.Hour), now), "tomorrow at 12:00", "morgen um 12:00"},
		{Time(now.Add(72*time.Hour), now), "2026-03-04 12:00", "04.03.2026 12:00"},
		{T("Next try {when}.", "when", When(now, now)), "Next try at 12:00.", "Nächster Versuch um 12:00."},
		{T("Failed: {cause}.", "cause", T("it is unknown to the catalog")), "Failed: it is unknown to the catalog.", "Failed: it is unknown to the catalog."},
		{And(T("Running."), T("A sentence unknown to the catalog.")), "Running. A sentence unknown to the catalog.", "Läuft. A sentence unknown to the catalog."},
		{T("{sentence}.", "sentence", Plain("The end.")), "The end.", "The end."},
		{T("{task}", "task", "{url}", "url", "u"), "{url}", "{url}"},
		{T("{project} {task}", "project", "task", "task", "A"), "task A", "task A"},
		{T("Every CPU that tasks may use is needed by other tasks on coprocessors{bound}.", "bound", Text{}), "Every CPU that tasks may use is needed by other tasks on coprocessors.", "Jede CPU, die Aufgaben verwenden dürfen, wird von anderen Aufgaben auf Koprozessoren gebraucht."},
		{Or(Text{}, T("Running.")), "Running.", "Läuft."},
		{Join([]Text{Count(2, "CPU"), {}, Plain("1 GPU")}, " + "), "2 CPUs + 1 GPU", "2 CPUs + 1 GPU"},
	} {
		if got := tt.text.String(); got != tt.english {
			t.Errorf("got %q, want %q", got, tt.english)
		}
		if got := tt.text.In(german); got != tt.german {
			t.Errorf("in German: got %q, want %q", got, tt.german)
		}
		if got := tt.text.In("xx"); got != tt.english {
			t.Errorf("in a language that does not exist: got %q, want %q", got, tt.english)
		}
		b, err := json.Marshal(tt.text.Only(german))
		var back Text
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back.String() != tt.german {
			t.Errorf("through JSON: %s, %q, %v", b, back, err)
		}
	}
}

func TestPreferred(t *testing.T) {
	for accept, want := range map[string]Language{
		"": English, "de": german, "de-AT,de;q=0.9,en;q=0.8": german, "en-US,en;q=0.9,de;q=0.8": English, "fr,de;q=0.5": german,
		"fr": English, "*": English, "q=;;": English, "zh-Hant-TW": English, strings.Repeat("de,", 10_000): german, "DE_de": german,
	} {
		if got := Preferred(accept); got != want {
			t.Errorf("%.40q: got %q, want %q", accept, got, want)
		}
	}
}

func TestOfTerminal(t *testing.T) {
	for _, tt := range []struct {
		all, messages, lang, list string
		want                      Language
	}{
		{"", "", "", "", English},
		{"", "", "de_DE.UTF-8", "", german},
		{"", "", "de_CH.UTF-8@euro", "", german},
		{"C", "", "de_DE.UTF-8", "", English},
		{"C.UTF-8", "", "de_DE.UTF-8", "", English},
		{"", "en_GB.UTF-8", "de_DE.UTF-8", "", English},
		{"de_DE", "en_GB.UTF-8", "en_US", "", german},
		{"", "POSIX", "de_DE", "", English},
		{"", "", "fr_FR.UTF-8", "", English},
		{"", "", "no such locale", "", English},
		{"", "", "en_US.UTF-8", "de", german},
		{"", "", "en_US.UTF-8", "fr:de_AT.UTF-8:en", german},
		{"", "", "de_DE.UTF-8", "en_US:en", English},
		{"", "", "de_DE.UTF-8", "fr:no such locale", german},
		{"", "", "C.UTF-8", "de", English},
		{"", "", "", "de", English},
	} {
		env := map[string]string{"LC_ALL": tt.all, "LC_MESSAGES": tt.messages, "LANG": tt.lang, "LANGUAGE": tt.list}
		if got := OfTerminal(func(name string) string { return env[name] }); got != tt.want {
			t.Errorf("%+v: got %q", tt, got)
		}
	}
}
