package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/starling-grid/starling/executor/image"
	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// imagesDir is the folder of unpacked images in the data directory.
const imagesDir = "images"

// temporaryDir is the folder in a slot that a task in an image has as /tmp.
const temporaryDir = "starling_tmp"

// An Image is the container image in which a task runs.
type Image struct {
	Description string // file name in ProjectDir of its description, see protocol.Image
	Layers      []File // with their checksums
	Room        int64  // disk space in bytes that it may take unpacked, or 0 for no limit
	// Shared returns, at each start, what else the task uses of the computer. nil means nothing.
	Shared func() (Shared, error)
}

// Shared is a part of the computer that a task in a container image uses in addition to its devices.
type Shared struct {
	Shown     []Shown
	Libraries string // folder in which the programs of the image also find shared libraries, or ""
}

// Shown is a file, folder or link that a task in a container image sees.
type Shown = sandbox.Shown

// ErrNoImages means that tasks cannot run in container images here.
var ErrNoImages = errors.New("container images cannot run on this computer now. Find the reason with: starling doctor")

// An ImagesError is why tasks cannot run in container images on this computer at all.
type ImagesError struct {
	Why, Cure words.Text // the cure is empty if it is not known
	Err       error      // of the system, or nil
}

func (e *ImagesError) Error() string { return e.Why.String() }

func (e *ImagesError) Unwrap() error { return e.Err }

// A RoomError means that an image takes more disk space than it may.
type RoomError struct{ Need, Room int64 } // bytes

func (e *RoomError) Error() string {
	return fmt.Sprintf("the image needs %d bytes of disk space, and may take %d", e.Need, e.Room)
}

// UseImages lets tasks run in container images from now on. It must be called after Confine and
// before the first Start. Its error is an *ImagesError if that is not possible here.
func (e *Executor) UseImages() error {
	if runtime.GOOS != "linux" {
		return &ImagesError{Why: words.T("container images run on Linux only")}
	}
	if e.sandboxed == nil {
		return &ImagesError{Why: words.T("the sandbox is turned off"), Cure: words.T("remove the line sandbox = false from starling.toml")}
	}
	if err := e.tryRoot(); err != nil {
		return err
	}
	s, err := image.Open(e.root, e.dir, imagesDir)
	if err != nil {
		return err
	}
	e.images = s
	return nil
}

// tryRoot starts a program with its own root, in a temporary slot.
func (e *Executor) tryRoot() error {
	const trial = "images_trial"
	if err := foreigndir.RemoveAll(e.root, trial); err != nil {
		return err
	}
	for _, dir := range []string{trial, trial + "/root", trial + "/slot"} {
		if err := e.root.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	defer func() { _ = foreigndir.RemoveAll(e.root, trial) }()
	user, err := e.taskUser(0)
	if err != nil {
		return err
	}
	dir := filepath.Join(e.dir, trial)
	if err := sandbox.Try(sandbox.Policy{Root: filepath.Join(dir, "root"), Own: filepath.Join(dir, "slot"), User: user}); err != nil {
		return noRoot(err)
	}
	return nil
}

// KeepImages removes unpacked images, except those whose descriptions these are: paths of files in
// the data directory.
func (e *Executor) KeepImages(descriptions []string) error {
	if e.images == nil {
		return nil
	}
	ids := make(map[string]bool)
	for _, name := range descriptions {
		text, err := foreigndir.Read(e.root, filepath.ToSlash(name), protocol.MaxImageText+1)
		if os.IsNotExist(err) {
			continue // it is not downloaded yet
		}
		if err != nil {
			return err
		}
		if m, err := protocol.ParseImage(text); err == nil {
			ids[m.ID()] = true
		}
	}
	return e.images.Keep(ids)
}

// A rootFS is the folder of the image in which a run takes place.
type rootFS struct {
	path   string
	id     string
	shared Shared
	done   func()
}

// unpackImage returns the task's image, unpacked, or nil for a task without an image.
func (r *run) unpackImage(ctx context.Context) (*rootFS, error) {
	t, project := &r.task, r.slot.project
	if t.Image == nil {
		return nil, nil
	}
	if r.e.images == nil {
		return nil, ErrNoImages
	}
	root := new(rootFS)
	if t.Image.Shared != nil {
		var err error
		if root.shared, err = t.Image.Shared(); err != nil {
			return nil, err
		}
	}
	text, err := foreigndir.Read(project, t.Image.Description, protocol.MaxImageText+1)
	if err != nil {
		return nil, err
	}
	m, err := protocol.ParseImage(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	check := func() error { // the rest of the task's files are checked at each start
		if need := m.NBytes(); t.Image.Room > 0 && need > t.Image.Room {
			return &RoomError{need, t.Image.Room}
		}
		return r.e.checked.verify(Task{ProjectDir: t.ProjectDir, Files: t.Image.Layers}, time.Now())
	}
	path, done, err := r.e.images.Unpack(ctx, m, check, func(name string) (*os.File, error) { return foreigndir.Open(project, name) })
	switch {
	case err != nil && ctx.Err() != nil:
		err = ErrStopped
	case errors.Is(err, image.ErrBroken):
		err = fmt.Errorf("%w: %w", ErrUnusable, err)
	}
	if err != nil {
		return nil, err
	}
	if err := r.slot.makeTemporary(); err != nil {
		done()
		return nil, err
	}
	root.path, root.id, root.done = path, m.ID(), done
	return root, nil
}

// makeTemporary makes the slot's folder for temporary files.
func (s *slot) makeTemporary() error {
	if info, err := s.dir.Lstat(temporaryDir); err == nil && info.IsDir() {
		return nil
	}
	if err := foreigndir.RemoveAll(s.dir, temporaryDir); err != nil {
		return err
	}
	if err := s.dir.Mkdir(temporaryDir, 0o700); err != nil {
		return err
	}
	return s.own(s.dir, temporaryDir)
}
