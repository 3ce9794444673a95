package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// defaultPath is where programs of an image are if it does not state a PATH.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// readImage returns the description of the container image in which the wrapper runs, or nil if it
// does not run in one. A description that is not a file of the app version is an input like others.
func readImage(resolve func(string) (string, error), d appipc.InitData) (*protocol.Image, error) {
	path, err := resolve(protocol.ImageFile)
	if err != nil {
		return nil, err
	}
	text, err := foreigndir.ReadFile(path, protocol.MaxImageText)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if ours, err := signed(path, d); err != nil || !ours {
		return nil, err
	}
	m, err := protocol.ParseImage(text)
	if err != nil {
		return nil, err
	}
	if os.Getenv(appipc.ImageVariable) != m.ID() { // its programs would be this computer's
		return nil, errors.New("this client does not run container images: use a current version of Starling on Linux")
	}
	return &m, nil
}

// inImage makes a job's steps run in an image.
func (j *job) inImage(m *protocol.Image) {
	j.image = m
	for _, steps := range [][]step{j.daemons, j.steps} {
		for i := range steps {
			st := &steps[i]
			if st.image = m; st.application == programName && len(m.Command) > 0 {
				st.application, st.args = m.Command[0], append(slices.Clone(m.Command[1:]), st.args...)
			}
		}
	}
}

// environment returns the variables of a step's program. The libraries of an image's program are in
// the image, except for a driver's libraries.
func (st step) environment() []string {
	env := os.Environ()
	if st.image == nil {
		return append(env, st.env...)
	}
	const path = "LD_LIBRARY_PATH="
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, path) })
	env = slices.Concat(env, []string{"PATH=" + defaultPath}, st.image.Env, st.env)
	if dir := os.Getenv(appipc.ImageLibraries); dir != "" {
		folders := []string{dir}
		for _, v := range env { // the last one counts
			if own, ok := strings.CutPrefix(v, path); ok && own != "" {
				folders = []string{own, dir}
			}
		}
		env = append(env, path+strings.Join(folders, ":"))
	}
	return env
}

// find returns the path of a program in the image.
func (st step) find(program string) (string, error) {
	if strings.Contains(program, "/") {
		if !filepath.IsAbs(program) {
			program = filepath.Join("/", st.image.Dir, program)
		}
		return program, executable(program)
	}
	var where string
	for _, v := range st.environment() { // the last one counts
		if value, ok := strings.CutPrefix(v, "PATH="); ok {
			where = value
		}
	}
	for _, dir := range filepath.SplitList(cmp.Or(where, defaultPath)) {
		if path := filepath.Join("/", dir, program); executable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the image has no program %s in its PATH (%s)", program, where)
}

func executable(path string) error {
	st, err := os.Stat(path)
	if err == nil && (!st.Mode().IsRegular() || st.Mode()&0o111 == 0) {
		err = fs.ErrPermission
	}
	if err != nil {
		return fmt.Errorf("the image has no program %s: %w", path, err)
	}
	return nil
}

// maxLinked is the maximum number of files of an image's folder that are linked.
const maxLinked = 10_000

// link shows the files of the image's working directory in the current folder, in which the program
// runs. The task's own files of these names remain.
func link(m *protocol.Image) error {
	dir := filepath.Join("/", m.Dir)
	if m.Dir == "" || dir == "/" {
		return nil
	}
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) { // docker creates it when a container starts
		return nil
	}
	if err != nil {
		return err
	}
	if len(list) > maxLinked {
		return fmt.Errorf("the working directory %s of the image has %d files, at most %d can be shown: set another one", dir, len(list), maxLinked)
	}
	for _, e := range list {
		if err := os.Symlink(filepath.Join(dir, e.Name()), e.Name()); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}
