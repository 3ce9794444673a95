package agent

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/internal/logflag"
)

// decisionsFile holds the passes, one a line, when the log flag sched_decision is
// set. starling simulate --replay reads it.
const (
	decisionsFile    = "decisions.jsonl"
	maxDecisionsFile = 64 << 20 // bytes; then the file before is replaced
)

// record appends a pass to the journal of decisions.
func (a *Agent) record(d decision) {
	if !a.settings.LogFlags[logflag.SchedDecision] {
		return
	}
	path := filepath.Join(a.cfg.DataDir, decisionsFile)
	if st, err := os.Stat(path); err == nil && st.Size() > maxDecisionsFile {
		_ = os.Rename(path, path+".1") // else it grows on
	}
	line, err := json.Marshal(d.Record)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	if err != nil {
		a.log.Warn("a decision could not be recorded", "error", err)
	}
}
