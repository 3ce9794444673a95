package guirpc

import (
	"log/slog"
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/protocol/bxml"
)

// priority returns BOINC's priority: 1 for information, 2 for the user to act on.
func priority(m control.Message) int64 {
	if m.Level == slog.LevelInfo.String() {
		return 1
	}
	return 2
}

func writeMessages(w *bxml.Writer, all []control.Message) {
	w.Open("msgs")
	for _, m := range all {
		w.Open("msg")
		w.Text("project", m.Project)
		w.Int("pri", priority(m))
		w.Int("seqno", int64(m.Seqno))
		w.Raw("<body>\n<![CDATA[\n" + cdata(m.Text) + "\n]]>\n</body>\n")
		w.Int("time", m.Time.Unix())
		w.Close("msg")
	}
	w.Close("msgs")
}

func cdata(s string) string { return strings.ReplaceAll(s, "]]>", "]] >") }
