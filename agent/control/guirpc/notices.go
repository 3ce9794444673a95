package guirpc

import (
	"html"
	"strconv"

	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// notices answers with the notices above a number. Tools keep the ones they have and ask for new
// ones. If a notice that this connection got is withdrawn, the answer has all of them again, after
// a mark for that.
//
// Source: BOINC client/cs_notice.cpp, NOTICES::write.
func (r *request) notices() string {
	after, _ := strconv.Atoi(r.arg("seqno"))
	return shows(func(w *bxml.Writer, v view.Tools) {
		here := make(map[int]bool, len(v.Notices))
		for _, n := range v.Notices {
			here[n.Seqno] = true
		}
		w.Open("notices")
		withdrawn := false
		for n := range r.peer.noticed {
			withdrawn = withdrawn || !here[n]
		}
		if withdrawn {
			w.Raw("<notice>\n<seqno>-1</seqno>\n</notice>\n")
			after = -1
			clear(r.peer.noticed)
		}
		if r.peer.noticed == nil {
			r.peer.noticed = make(map[int]bool)
		}
		for _, n := range v.Notices {
			if n.Seqno > after {
				writeNotice(w, n)
				r.peer.noticed[n.Seqno] = true
			}
		}
		w.Close("notices")
	})(r)
}

// writeNotice writes the title and the text as HTML, which tools expect.
func writeNotice(w *bxml.Writer, n view.ToolsNotice) {
	title, text, category := n.Title, n.HTML, ""
	if n.Feed == "" {
		title, text, category = "Notice from "+n.ProjectName, html.EscapeString(n.HTML), "scheduler"
	}
	w.Open("notice")
	w.Text("title", flat(title))
	w.Raw("<description><![CDATA[\n" + cdata(text) + "\n]]></description>\n")
	w.Float("create_time", protocol.UnixSeconds(n.Created))
	w.Float("arrival_time", protocol.UnixSeconds(n.Arrived))
	w.Int("is_private", 0)
	w.Text("project_name", n.ProjectName)
	w.Text("category", category)
	w.Raw("<link><![CDATA[" + cdata(flat(n.Link)) + "]]></link>\n")
	w.Int("seqno", int64(n.Seqno))
	w.Close("notice")
}
