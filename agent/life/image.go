package life

import (
	"path/filepath"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
)

// image describes the image of an app version to the executor.
func (l *Life) image(v state.AppVersion) (*executor.Image, error) {
	m := &executor.Image{Room: max(1, -l.Disk.Excess())}
	for _, ref := range v.FileRefs {
		switch {
		case protocol.IsImageLayer(ref.FileName):
			m.Layers = append(m.Layers, l.input(v.Project, ref))
		case ref.OpenName == protocol.ImageFile:
			m.Description = ref.FileName
		}
	}
	if m.Description == "" {
		return nil, describedError("its application version has no description of its image")
	}
	return m, nil
}

// shared returns the function that finds the files of a coprocessor's driver for a task in an image.
func shared(set gpus.Set, kind resource.Kind) func() (executor.Shared, error) {
	return func() (executor.Shared, error) {
		found, err := set.InImage(kind)
		s := executor.Shared{Libraries: found.Libraries}
		for _, x := range found.Shown {
			s.Shown = append(s.Shown, executor.Shown(x))
		}
		return s, err
	}
}

// KeepImages removes unpacked images that no app version needs anymore.
func (l *Life) KeepImages() {
	if !l.Images {
		return
	}
	var descriptions []string
	for _, v := range l.DB.Versions.All() {
		if !protocol.IsImagePlatform(v.Platform) {
			continue
		}
		if m, err := l.image(v); err == nil {
			descriptions = append(descriptions, filepath.Join(core.ProjectsDir, protocol.EscapeURL(v.Project), m.Description))
		}
	}
	go func() {
		if err := l.Exec.KeepImages(descriptions); err != nil {
			l.Log.Warn("cannot remove images that are not needed", "err", err)
		}
	}()
}
