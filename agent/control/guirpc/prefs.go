package guirpc

import (
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/protocol/bxml"
)

func writePrefsFile(w *bxml.Writer, v view.Tools) {
	if v.Web == "" {
		w.Int("error", -108)
		return
	}
	w.Open("global_preferences")
	w.Raw(v.Web + "\n")
	w.Close("global_preferences")
}

func writePrefsWorking(w *bxml.Writer, v view.Tools) {
	w.Open("global_preferences")
	w.Raw(v.Prefs.XML())
	w.Close("global_preferences")
}

func writePrefsOverride(w *bxml.Writer, v view.Tools) {
	if len(v.Override.Values) == 0 && len(v.Override.Days) == 0 {
		w.Text("error", "no prefs override file")
		return
	}
	w.Open("global_preferences")
	w.Raw(v.Override.XML())
	w.Close("global_preferences")
}
