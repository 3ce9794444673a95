package guirpc

import (
	"log/slog"
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// priority is BOINC's: 1 for information, 2 for the user to act on.
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

func writeNotices(w *bxml.Writer, v view.Tools, after int) {
	w.Open("notices")
	seqno := 0
	for _, p := range v.Projects {
		for _, n := range p.Notices {
			if n.Priority != protocol.PriorityNotice {
				continue
			}
			if seqno++; seqno <= after {
				continue
			}
			w.Open("notice")
			w.Text("title", "Notice from "+p.Name)
			w.Raw("<description><![CDATA[\n" + cdata(n.Text) + "\n]]></description>\n")
			w.Float("create_time", protocol.UnixSeconds(n.Time))
			w.Float("arrival_time", protocol.UnixSeconds(n.Time))
			w.Int("is_private", 0)
			w.Text("project_name", p.Name)
			w.Text("category", "scheduler")
			w.Raw("<link><![CDATA[]]></link>\n")
			w.Int("seqno", int64(seqno))
			w.Close("notice")
		}
	}
	w.Close("notices")
}
