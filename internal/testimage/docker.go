package testimage

import (
	"bytes"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Docker writes an image of these layers for this computer, as docker save does.
func Docker(path, arch string, config v1.Config, layers ...[]byte) error {
	m := empty.Image
	for _, content := range layers {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
		if err != nil {
			return err
		}
		if m, err = mutate.AppendLayers(m, layer); err != nil {
			return err
		}
	}
	c, err := m.ConfigFile()
	if err != nil {
		return err
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Config = "linux", arch, config
	if m, err = mutate.ConfigFile(m, c); err != nil {
		return err
	}
	return tarball.WriteToFile(path, name.MustParseReference("test:latest"), m)
}
