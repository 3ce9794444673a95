// Package image reads the container images that an operator publishes: archives of docker save,
// archives and folders in OCI's format, and images in registries. It verifies their checksums and
// whether volunteers' computers could run them, and looks for programs in them. It publishes nothing.
package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/starling-grid/starling/protocol"
)

// ociPrefix marks the path of a folder in OCI's format.
const ociPrefix = "oci:"

// maxText is the maximum size of a manifest or a configuration. Real ones have some kilobytes.
const maxText = 4 << 20

// An Image is an image for one platform.
type Image struct {
	Name        string         // with the digest, if the image is in a registry
	Description protocol.Image // complete except for the sizes of layers
	image       v1.Image
	close       func()
}

// Close removes temporary files.
func (m *Image) Close() { m.close() }

// Open finds the image that ref names and checks that it runs on a platform. The content of its
// layers is not read yet. The caller closes the image.
func Open(ctx context.Context, ref, platform string) (_ *Image, err error) {
	arch := architectures[platform]
	if arch == "" {
		return nil, fmt.Errorf("images are for %s, not for %s", strings.Join(platforms(), " and "), platform)
	}
	m := &Image{Name: ref, close: func() {}}
	defer func() {
		if err != nil {
			m.close()
			err = fmt.Errorf("image %s: %w", ref, err)
		}
	}()
	switch dir, ok := strings.CutPrefix(ref, ociPrefix); {
	case ok:
		m.image, err = fromFolder(dir, arch)
	default:
		var st os.FileInfo
		switch st, err = os.Stat(ref); {
		case err == nil && st.IsDir():
			return nil, fmt.Errorf("it is a folder: if it is in OCI's format, write %s%s", ociPrefix, ref)
		case err == nil:
			m.image, m.close, err = fromArchive(ref, arch)
		case looksLikePath(ref):
			return nil, err
		default:
			m.Name, m.image, err = fromRegistry(ctx, ref, arch)
		}
	}
	if err != nil {
		return nil, err
	}
	return m, m.describe(arch)
}

// looksLikePath reports whether a name cannot be an image's in a registry.
func looksLikePath(ref string) bool {
	return path.IsAbs(ref) || strings.HasPrefix(ref, ".") || slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(ref, e) })
}

// extensions has the endings of the names of archives.
var extensions = []string{".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.bz2", ".tar.xz", ".txz"}

// architectures maps platforms to the names of their processors in images.
var architectures = map[string]string{"x86_64-pc-linux-gnu": "amd64", "aarch64-unknown-linux-gnu": "arm64"}

func platforms() []string { return []string{"x86_64-pc-linux-gnu", "aarch64-unknown-linux-gnu"} }

// describe reads the configuration.
func (m *Image) describe(arch string) error {
	if err := verifyConfig(m.image); err != nil {
		return err
	}
	c, err := m.image.ConfigFile()
	if err != nil {
		return fmt.Errorf("its configuration: %w", err)
	}
	switch {
	case c.OS != "" && c.OS != "linux":
		return fmt.Errorf("it is for %s, want linux", c.OS)
	case c.Architecture != arch:
		return fmt.Errorf("it is for the architecture %q, want %s", c.Architecture, arch)
	}
	d := protocol.Image{Command: append(append([]string{}, c.Config.Entrypoint...), c.Config.Cmd...), Env: c.Config.Env, Dir: c.Config.WorkingDir}
	if len(d.Command) == 0 || d.Command[0] == "" {
		return errors.New("it has no command: set ENTRYPOINT or CMD where it is built")
	}
	for _, id := range c.RootFS.DiffIDs {
		if id.Algorithm != "sha256" {
			return fmt.Errorf("a layer has a checksum of an unknown type: %s", id)
		}
		d.Layers = append(d.Layers, protocol.ImageLayer{DiffID: id.Hex})
	}
	m.Description = d
	if err := d.Check(); err != nil {
		return err
	}
	text := len(strings.Join(d.Command, "")) + len(strings.Join(d.Env, "")) + len(d.Dir)
	if most := protocol.MaxImageText / 4; text > most {
		return fmt.Errorf("its command and its environment have %d bytes, at most %d are allowed", text, most)
	}
	return nil
}

// verifyConfig compares the configuration with its checksum in the manifest.
func verifyConfig(m v1.Image) error {
	manifest, err := m.Manifest()
	if err != nil {
		return fmt.Errorf("its manifest: %w", err)
	}
	if manifest.Config.Size > maxText {
		return fmt.Errorf("its configuration has %d bytes, at most %d are allowed", manifest.Config.Size, maxText)
	}
	text, err := m.RawConfigFile()
	if err != nil {
		return fmt.Errorf("its configuration: %w", err)
	}
	return verify("its configuration", text, manifest.Config.Digest)
}

func verify(what string, text []byte, want v1.Hash) error {
	got, _, err := v1.SHA256(bytes.NewReader(text))
	if err == nil && got != want {
		err = fmt.Errorf("%s has the digest %s, want %s", what, got, want)
	}
	return err
}

// Layer returns the uncompressed archive of layer i. Reading it to its end fails if the content does
// not have the layer's checksum, or is too large. It sets the layer's size in the description.
func (m *Image) Layer(i int) (io.ReadCloser, error) {
	l := &m.Description.Layers[i]
	layer, err := m.image.LayerByDiffID(v1.Hash{Algorithm: "sha256", Hex: l.DiffID})
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", l.DiffID, err)
	}
	r, err := layer.Uncompressed()
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", l.DiffID, err)
	}
	left := int64(protocol.MaxImageBytes)
	for j, other := range m.Description.Layers {
		if j != i {
			left -= other.NBytes
		}
	}
	return newChecked(r, l, left), nil
}
