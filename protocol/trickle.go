package protocol

import (
	"strconv"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// parseTrickle splits the raw content of a trickle into lines with the result's name and the time,
// and the unescaped text of the program.
func parseTrickle(raw string) (t Trickle) {
	rest := raw
	for {
		line, after, more := strings.Cut(rest, "\n")
		key, value, ok := element(strings.TrimSpace(line))
		switch {
		case ok && key == "result_name":
			t.ResultName = value
		case ok && key == "time":
			if f, err := strconv.ParseFloat(value, 64); err == nil {
				t.Time = UnixTime(f)
			}
		case strings.TrimSpace(line) != "" || !more:
			t.Text = rest
			return t
		}
		rest = after
	}
}

// element splits a line of the form <key>value</key>.
func element(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(strings.TrimPrefix(line, "<"), ">")
	if !ok || !strings.HasPrefix(line, "<") {
		return "", "", false
	}
	value, ok = strings.CutSuffix(value, "</"+key+">")
	return key, strings.TrimSpace(value), ok
}

func (t Trickle) write(w *bxml.Writer, name string) {
	w.Open(name)
	w.Text("result_name", t.ResultName)
	w.Int("time", t.Time.Unix())
	w.Raw(t.Text)
	w.Close(name)
}
