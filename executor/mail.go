package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol/appipc"
)

// MaxTrickle is the maximum length, in bytes, of a message to a project's server that is passed on.
const MaxTrickle = 1 << 20

// mail passes on the application's messages other than its status, and notifies it of messages and
// uploads.
func (r *run) mail() {
	if text, ok := r.ipc.Receive(appipc.GraphicsReply); ok {
		if g, ok := appipc.ParseGraphics(text); ok {
			r.update(func(p *Progress) { p.Graphics = g })
		}
	}
	if text, ok := r.ipc.Receive(appipc.TrickleUp); ok {
		if strings.Contains(text, strings.TrimSpace(appipc.HaveNewTrickleUp)) {
			r.trickleUp()
		}
		if strings.Contains(text, strings.TrimSpace(appipc.HaveNewUploadFile)) {
			r.uploadRequests()
		}
	}
	if r.trickleDown && r.ipc.Send(appipc.TrickleDown, appipc.HaveTrickleDown) {
		r.trickleDown = false
		r.log.Debug("message delivered to application", logflag.Key, logflag.AppMsgSend)
	}
	if r.uploads && r.ipc.Send(appipc.TrickleDown, appipc.UploadFileStatus) {
		r.uploads = false
	}
}

// trickleUp moves a message for the project's server from the slot into the project's folder, where
// it stays until the server has it.
func (r *run) trickleUp() {
	info, err := r.slot.dir.Lstat(appipc.TrickleUpFile)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		err = checkName(r.task.Init.ResultName)
	}
	if err == nil && (!info.Mode().IsRegular() || info.Size() > MaxTrickle) {
		err = fmt.Errorf("%d bytes, %s: not a file of at most %d bytes", info.Size(), info.Mode(), MaxTrickle)
	}
	if n := r.waiting(); err == nil && n >= maxWaiting {
		err = fmt.Errorf("%d messages of this result wait for the project's server already", n)
	}
	if err != nil {
		r.log.Warn("application message rejected", "err", err)
		_ = foreigndir.RemoveAll(r.slot.dir, appipc.TrickleUpFile)
		return
	}
	at := time.Now()
	name := appipc.TrickleName(r.task.Init.ResultName, at)
	for exists(r.slot.project, name) { // the application sent another one in the same second
		at = at.Add(time.Second)
		name = appipc.TrickleName(r.task.Init.ResultName, at)
	}
	if err := r.e.take(r.task, appipc.TrickleUpFile, name); err != nil {
		r.log.Warn("application message delayed", "err", err)
		return
	}
	r.e.report(TrickledUp{Result: r.task.Result, File: name})
}

// maxWaiting is the number of messages of a result that may wait for the project's server.
const maxWaiting = 1000

// waiting counts the messages of the result that wait for the project's server.
func (r *run) waiting() (n int) {
	_ = foreigndir.Names(r.slot.project, ".", func(name string) bool {
		if result, _, ok := appipc.ParseTrickleName(name); ok && result == r.task.Init.ResultName {
			n++
		}
		return n < maxWaiting
	})
	return n
}

// TrickleDown puts a message from the project's server into the slot of a result, running or not.
// It returns ErrNotRunning if the slot does not belong to the result.
func (e *Executor) TrickleDown(result string, slot int, at time.Time, text string) error {
	dir, err := e.root.OpenRoot(slotName(slot))
	if err != nil {
		return fmt.Errorf("message for %s: %w: %w", result, ErrNotRunning, err)
	}
	defer dir.Close()
	if readSetup(dir).Result != result {
		return fmt.Errorf("message for %s: %w", result, ErrNotRunning)
	}
	for n := at.Unix(); ; n++ {
		f, err := dir.OpenFile(fmt.Sprint(appipc.TrickleDownPrefix, n), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o664)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("message for %s: %w", result, err)
		}
		_, err = f.WriteString(text)
		if user, e := e.taskUser(slot); e == nil && user != 0 {
			err = errors.Join(err, f.Chown(user, user))
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("message for %s: %w", result, err)
		}
		break
	}
	if err := e.toRun(result, "trickle-down", func(r *run) { r.trickleDown = true }); !errors.Is(err, ErrNotRunning) {
		return err
	}
	return nil // it finds the message when it starts
}

// Reread gives a running application new preferences: the period of its checkpoints and the XML of
// both kinds of preferences. Apart from these, it only takes Unthrottled from t.
func (e *Executor) Reread(t Task) error {
	return e.toRun(t.Result, "reread", func(r *run) {
		r.task.Unthrottled = t.Unthrottled
		i, d := &r.task.Init, t.Init
		same := i.GlobalPreferences == d.GlobalPreferences && i.ProjectPreferences == d.ProjectPreferences && i.CheckpointPeriod == d.CheckpointPeriod
		i.GlobalPreferences, i.ProjectPreferences, i.CheckpointPeriod = d.GlobalPreferences, d.ProjectPreferences, d.CheckpointPeriod
		if same || r.cmd == nil { // a program that is started later gets them anyway
			return
		}
		if err := r.slot.replace(appipc.InitDataFile, r.e.initData(r.task).Encode()); err != nil {
			r.log.Warn("cannot give application new preferences", "err", err)
			return
		}
		r.control.push(appipc.Reread)
	})
}
