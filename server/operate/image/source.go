package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/starling-grid/starling/protocol"
)

// fromRegistry fetches the description of an image. A tag is resolved once, and the name that is
// returned has the digest in its place.
func fromRegistry(ctx context.Context, ref, arch string) (string, v1.Image, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return ref, nil, fmt.Errorf("it is neither a file nor a name in a registry: %w", err)
	}
	options := []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithPlatform(v1.Platform{OS: "linux", Architecture: arch}),
	}
	found, err := remote.Get(r, options...)
	if err != nil {
		return ref, nil, err
	}
	full := r.Context().Digest(found.Digest.String()).Name()
	m, err := found.Image()
	if err != nil {
		return full, nil, err
	}
	if digest, err := m.Digest(); err == nil && digest != found.Digest { // an index of several architectures
		full = r.Context().Digest(digest.String()).Name()
	}
	return full, m, nil
}

// fromFolder opens an image in OCI's format.
func fromFolder(dir, arch string) (v1.Image, error) {
	if err := bounded(filepath.Join(dir, "index.json")); err != nil {
		return nil, err
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, fmt.Errorf("it is not in OCI's format: %w", err)
	}
	return choose(dir, index, arch, 0)
}

// choose returns the image for an architecture. An index may contain others.
func choose(dir string, index v1.ImageIndex, arch string, depth int) (v1.Image, error) {
	const deepest = 4
	if depth > deepest {
		return nil, errors.New("its indexes contain each other")
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("its index: %w", err)
	}
	var others []string
	var fits []v1.Descriptor
	for _, d := range list.Manifests {
		switch {
		case !d.MediaType.IsImage() && !d.MediaType.IsIndex():
		case d.Platform != nil && (d.Platform.OS != "linux" || d.Platform.Architecture != arch):
			others = append(others, d.Platform.String())
		default:
			fits = append(fits, d)
		}
	}
	switch {
	case len(fits) == 0 && len(others) > 0:
		return nil, fmt.Errorf("it is for %s, want linux/%s", strings.Join(others, ", "), arch)
	case len(fits) == 0:
		return nil, errors.New("it contains no image")
	case len(fits) > 1:
		return nil, fmt.Errorf("it contains %d images for linux/%s: export only one", len(fits), arch)
	}
	d := fits[0]
	blob := filepath.Join(dir, "blobs", d.Digest.Algorithm, d.Digest.Hex)
	if err := bounded(blob); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(blob)
	if err != nil {
		return nil, err
	}
	if err := verify("its manifest", text, d.Digest); err != nil {
		return nil, err
	}
	if d.MediaType.IsIndex() {
		below, err := index.ImageIndex(d.Digest)
		if err != nil {
			return nil, err
		}
		return choose(dir, below, arch, depth+1)
	}
	m, err := index.Image(d.Digest)
	if err != nil {
		return nil, err
	}
	manifest, err := m.Manifest()
	if err != nil {
		return nil, fmt.Errorf("its manifest: %w", err)
	}
	return m, bounded(filepath.Join(dir, "blobs", manifest.Config.Digest.Algorithm, manifest.Config.Digest.Hex))
}

// bounded refuses a text that is too large.
func bounded(file string) error {
	st, err := os.Stat(file)
	if err == nil && st.Size() > maxText {
		err = fmt.Errorf("%s has %d bytes, at most %d are allowed", filepath.Base(file), st.Size(), maxText)
	}
	return err
}

// fromArchive opens an archive that docker save or a tool for OCI's format has written, compressed or not.
// clean removes temporary files.
func fromArchive(file, arch string) (m v1.Image, clean func(), err error) {
	file, clean, err = plain(file)
	if err != nil {
		return nil, clean, err
	}
	sizes, err := contents(file)
	if err != nil {
		return nil, clean, err
	}
	if _, ok := sizes["oci-layout"]; ok {
		dir, err := os.MkdirTemp("", "starling-image")
		if err != nil {
			return nil, clean, err
		}
		copied := clean
		clean = func() { _ = os.RemoveAll(dir); copied() }
		if err := extract(file, dir); err != nil {
			return nil, clean, err
		}
		m, err = fromFolder(dir, arch)
		return m, clean, err
	}
	if _, ok := sizes["manifest.json"]; !ok {
		return nil, clean, errors.New("it is not an image: it has neither manifest.json nor oci-layout. Write one with docker save or podman save")
	}
	for name, size := range sizes {
		if path.Ext(name) == ".json" && size > maxText {
			return nil, clean, fmt.Errorf("%s has %d bytes, at most %d are allowed", name, size, maxText)
		}
	}
	opener := func() (io.ReadCloser, error) { return os.Open(file) }
	list, err := tarball.LoadManifest(opener)
	switch {
	case err != nil:
		return nil, clean, fmt.Errorf("its manifest.json: %w", err)
	case len(list) != 1:
		return nil, clean, fmt.Errorf("it contains %d images: save only one", len(list))
	case sizes[path.Clean(list[0].Config)] > maxText:
		return nil, clean, fmt.Errorf("its configuration has %d bytes, at most %d are allowed", sizes[path.Clean(list[0].Config)], maxText)
	}
	m, err = tarball.Image(opener, nil)
	return m, clean, err
}

// contents returns the sizes of the files in an archive.
func contents(file string) (map[string]int64, error) {
	sizes := make(map[string]int64)
	err := each(file, func(h *tar.Header, _ io.Reader) error {
		sizes[path.Clean(h.Name)] = h.Size
		return nil
	})
	if err == nil && len(sizes) == 0 {
		err = errors.New("it is an empty archive")
	}
	return sizes, err
}

// each calls f for the entries of an archive.
func each(file string, f func(h *tar.Header, content io.Reader) error) error {
	r, err := os.Open(file)
	if err != nil {
		return err
	}
	defer r.Close()
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not a complete archive (tar): %w", err)
		}
		if err := f(h, archive); err != nil {
			return err
		}
	}
}

// extract unpacks the regular files of an archive in OCI's format to a folder.
func extract(file, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(protocol.MaxImageBytes)
	return each(file, func(h *tar.Header, content io.Reader) error {
		if h.Typeflag != tar.TypeReg {
			return nil
		}
		if left -= h.Size; left < 0 {
			return fmt.Errorf("it has more than %d GB", int64(protocol.MaxImageBytes)>>30)
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	})
}
