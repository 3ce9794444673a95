package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/starling-grid/starling/protocol/appipc"
)

// uploadRequests passes on which outputs the application wants to be sent now.
// One that cannot be sent it is told of at once.
func (r *run) uploadRequests() {
	entries, _ := fs.ReadDir(r.slot.dir.FS(), ".")
	for _, entry := range entries {
		logical, ok := strings.CutPrefix(entry.Name(), appipc.UploadRequest)
		if !ok {
			continue
		}
		_ = r.slot.dir.Remove(entry.Name())
		o, err := r.output(logical)
		if err != nil {
			r.log.Warn("application asks for an upload that cannot be", "file", logical, "error", err)
			r.uploadEnded(logical, errNotFound)
			continue
		}
		r.e.report(UploadRequested{Result: r.task.Result, Output: o})
	}
}

// output describes an output as it is now.
func (r *run) output(logical string) (Output, error) {
	for _, f := range r.task.Files {
		if !f.Output || f.logical() != logical {
			continue
		}
		if f.Copy {
			return Output{}, errors.New("it lies in the slot until the end (copy_file)")
		}
		o := Output{Physical: f.Physical, Logical: logical}
		f.Optional = false
		err := r.slot.measure(f, &o)
		return o, err
	}
	return Output{}, errors.New("it is no output of this result")
}

// UploadEnded tells the application of a result what has become of an upload that
// it asked for: status 0 if the server has the file, or else one of BOINC's error
// numbers. It returns ErrNotRunning if the result does not run.
func (e *Executor) UploadEnded(result, logical string, status int) error {
	return e.wish(result, func(r *run) { r.uploadEnded(logical, status) })
}

// partialStatus is the name of a status that is being written.
const partialStatus = "starling_status"

func (r *run) uploadEnded(logical string, status int) {
	if checkName(logical) != nil {
		return
	}
	err := r.slot.dir.WriteFile(partialStatus, fmt.Appendf(nil, "<status>%d</status>\n", status), 0o664)
	if err == nil {
		err = r.slot.dir.Rename(partialStatus, appipc.UploadStatus+logical)
	}
	if err != nil {
		r.log.Warn("cannot tell an application of its upload", "file", logical, "error", err)
		return
	}
	r.uploads = true
}
