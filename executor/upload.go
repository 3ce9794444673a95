package executor

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// uploadRequests reports the outputs that the application wants to be uploaded now. If one cannot
// be uploaded, the application is notified at once.
func (r *run) uploadRequests() {
	var wanted []string
	_ = foreigndir.Names(r.slot.dir, ".", func(name string) bool {
		if logical, ok := strings.CutPrefix(name, appipc.UploadRequest); ok {
			wanted = append(wanted, logical)
		}
		return len(wanted) <= len(r.task.Files)
	}) // files that cannot be read now are found with the next request
	for _, logical := range wanted {
		_ = foreigndir.RemoveAll(r.slot.dir, appipc.UploadRequest+logical)
		o, err := r.output(logical)
		if err != nil {
			r.log.Warn("application asks for an impossible upload", "file", logical, "err", err)
			r.uploadEnded(logical, protocol.ErrNumFileMissing)
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
			return Output{}, errors.New("it stays in the slot until the task ends (copy_file)")
		}
		if err := r.e.show(r.task, f); err != nil {
			return Output{}, err
		}
		o := Output{Physical: f.Physical, Logical: logical}
		f.Optional = false
		err := r.slot.measure(r.e.ctx, f, &o)
		return o, err
	}
	return Output{}, errors.New("it is not an output of this result")
}

// show links an output of a running application into the project's folder, to be uploaded from
// there.
func (e *Executor) show(t Task, f File) error {
	from, to := path.Join(slotName(t.Slot), f.inSlot()), path.Join("projects", filepath.Base(t.ProjectDir), f.Physical)
	if info, err := e.root.Lstat(from); err != nil {
		return nil //nolint:nilerr // what is not there is missed where it is looked for
	} else if !info.Mode().IsRegular() {
		return errors.New("it is not a file")
	}
	if err := foreigndir.RemoveAll(e.root, to); err != nil {
		return err
	}
	return e.root.Link(from, to)
}

// UploadEnded notifies the application of a result of the outcome of an upload that it asked for:
// status is 0 if the server has the file, or else one of BOINC's error numbers. UploadEnded returns
// ErrNotRunning if the result does not run.
func (e *Executor) UploadEnded(result, logical string, status int) error {
	return e.toRun(result, "upload "+logical, func(r *run) { r.uploadEnded(logical, status) })
}

func (r *run) uploadEnded(logical string, status int) {
	if checkName(logical) != nil || r.slot == nil {
		return
	}
	if err := r.slot.replace(appipc.UploadStatus+logical, fmt.Appendf(nil, "<status>%d</status>\n", status)); err != nil {
		r.log.Warn("cannot report upload to application", "file", logical, "err", err)
		return
	}
	r.uploads = true
}
