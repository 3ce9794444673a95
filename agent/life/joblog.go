package life

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// logJob adds a line to the project's job log, where tools of BOINC's users look for finished
// tasks: estimated and used time, operations, name, elapsed time and exit status.
//
// Source: BOINC client/log_flags.cpp and client/result.cpp, RESULT::append_log_record.
func (l *Life) logJob(r state.Result, now time.Time) {
	u, _ := l.DB.Units.Get(state.Key(r.Project, r.WorkunitName))
	line := fmt.Sprintf("%d ue %f ct %f fe %.0f nm %s et %f es %d\n", now.Unix(),
		l.Stated(r.Version, u.RscFpopsEst).Seconds(), r.CPUTime.Seconds(), u.RscFpopsEst, r.Name, r.Elapsed.Seconds(), r.ExitStatus)
	name := filepath.Join(l.Dir, "job_log_"+protocol.EscapeURL(r.Project)+".txt")
	if st, err := os.Lstat(name); err == nil && !st.Mode().IsRegular() { // not ours: a link, or a pipe without a reader
		l.Log.Warn("the job log is not written: its name belongs to something that is not a file", "path", name)
		return
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644) //nolint:gosec // for tools of other users, as BOINC's
	if err != nil {
		l.Log.Warn("cannot write the job log", "err", err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		l.Log.Warn("cannot write the job log", "err", err)
	}
}
