package main

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/owner"
	"github.com/starling-grid/starling/internal/words"
)

// explained adds the remedy to an error about files of the data directory that a person may not
// use, since another user runs the agent. A running agent itself reports that, and who may control
// it. Other errors stay as they are.
func (o *options) explained(err error) error {
	e, file := errors.AsType[*fs.PathError](err)
	if !file || !errors.Is(err, fs.ErrPermission) || !owner.Another(o.data) {
		return err
	}
	dir, errDir := filepath.Abs(o.data)
	path, errPath := filepath.Abs(e.Path)
	if errDir != nil || errPath != nil || path != dir && !strings.HasPrefix(path, dir+string(filepath.Separator)) {
		return err
	}
	return control.Forbidden(words.T("{dir} belongs to another user; try again with sudo, or, if no agent is running, {command}", "dir", o.data, "command", o.start()))
}
