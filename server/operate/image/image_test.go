package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/klauspost/compress/zstd"

	"github.com/starling-grid/starling/internal/testerr"
	"github.com/starling-grid/starling/internal/testimage"
	"github.com/starling-grid/starling/server/operate/image"
)

const platform = "x86_64-pc-linux-gnu"

// build returns an image with a program and a layer of data.
func build(t *testing.T, change func(c *v1.ConfigFile)) v1.Image {
	t.Helper()
	m := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, content := range [][]byte{testimage.Tar(testimage.File("bin/fit", "a program", 0o755)), testimage.Tar(testimage.File("data", "some data", 0o644))} {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
		must(t, err)
		if m, err = mutate.AppendLayers(m, layer); err != nil {
			t.Fatal(err)
		}
	}
	c, err := m.ConfigFile()
	must(t, err)
	c = c.DeepCopy()
	c.OS, c.Architecture = "linux", "amd64"
	c.Config = v1.Config{Entrypoint: []string{"fit", "a b"}, Cmd: []string{"--fast"}, Env: []string{"PATH=/bin"}, WorkingDir: "/work"}
	if change != nil {
		change(c)
	}
	if m, err = mutate.ConfigFile(m, c); err != nil {
		t.Fatal(err)
	}
	return m
}

// docker writes an image as docker save does.
func docker(t *testing.T, m v1.Image) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docker.tar")
	must(t, tarball.WriteToFile(path, name.MustParseReference("fit:latest"), m))
	return path
}

// oci writes images to a folder in OCI's format.
func oci(t *testing.T, images ...v1.Image) string {
	t.Helper()
	dir := t.TempDir()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, m := range images {
		c, err := m.ConfigFile()
		must(t, err)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: m, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: c.Architecture}}})
	}
	if _, err := layout.Write(dir, index); err != nil {
		t.Fatal(err)
	}
	return dir
}

// archive makes an archive of a folder.
func archive(t *testing.T, dir string) string {
	t.Helper()
	content, err := testimage.Folder(dir)
	must(t, err)
	return write(t, content)
}

func write(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "image.tar")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}

// serve starts a registry and returns its address.
func serve(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func push(t *testing.T, ref string, m v1.Image) string {
	t.Helper()
	r, err := name.ParseReference(ref)
	must(t, err)
	must(t, remote.Write(r, m, remote.WithContext(t.Context())))
	return ref
}

// Images in all forms have the same layers, so that they share files.
func TestForms(t *testing.T) {
	m := build(t, nil)
	other := build(t, func(c *v1.ConfigFile) { c.Architecture = "arm64" })
	tagged := push(t, serve(t)+"/lab/fit:2.1", m)
	digest, err := m.Digest()
	must(t, err)
	whole, err := os.ReadFile(docker(t, m))
	must(t, err)
	byDigest := strings.TrimSuffix(tagged, ":2.1") + "@" + digest.String()
	for form, ref := range map[string]string{
		"docker save": docker(t, m), "a folder": "oci:" + oci(t, m), "a folder of two": "oci:" + oci(t, other, m), "an archive": archive(t, oci(t, m)),
		"a compressed archive": write(t, gz(whole)), "an archive in zstd's format": write(t, zst(t, whole)),
		"a tag": tagged, "a digest": byDigest,
	} {
		got, err := image.Open(t.Context(), ref, platform)
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		defer got.Close()
		want := ref
		if form == "a tag" {
			want = byDigest
		}
		if got.Name != want {
			t.Errorf("%s: the name is %s, want %s", form, got.Name, want)
		}
		d := got.Description
		if strings.Join(d.Command, "|") != "fit|a b|--fast" || strings.Join(d.Env, "|") != "PATH=/bin" || d.Dir != "/work" {
			t.Errorf("%s: got %+v", form, d)
		}
		for i := range d.Layers {
			r, err := got.Layer(i)
			if err != nil {
				t.Errorf("%s: %v", form, err)
				continue
			}
			content, err := io.ReadAll(r)
			_ = r.Close()
			if err != nil || int64(len(content)) != d.Layers[i].NBytes {
				t.Errorf("%s: layer %d has %d bytes, want %d: %v", form, i, len(content), d.Layers[i].NBytes, err)
			}
		}
		if want := [2]string{diffID("bin/fit", "a program", 0o755), diffID("data", "some data", 0o644)}; len(d.Layers) != 2 || d.Layers[0].DiffID != want[0] || d.Layers[1].DiffID != want[1] {
			t.Errorf("%s: layers %v, want %v", form, d.Layers, want)
		}
	}
}

func diffID(name, content string, mode int64) string {
	h, _, _ := v1.SHA256(bytes.NewReader(testimage.Tar(testimage.File(name, content, mode))))
	return h.Hex
}

// A wrong image is refused in words that show the cure.
func TestWrongImages(t *testing.T) {
	m := build(t, nil)
	arm := build(t, func(c *v1.ConfigFile) { c.Architecture = "arm64" })
	damaged := func(digest func(v1.Image) v1.Hash, old string) string {
		dir := oci(t, m)
		file := filepath.Join(dir, "blobs", "sha256", digest(m).Hex)
		text, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, bytes.Replace(text, []byte(old), []byte(strings.ToUpper(old)), 1), 0o600))
		return "oci:" + dir
	}
	whole, err := os.ReadFile(docker(t, m))
	must(t, err)
	huge := testimage.File("manifest.json", `[{"Config":"config","Layers":[]}]`, 0o644)
	config := testimage.File("config", strings.Repeat(" ", 100<<20), 0o644)
	address := serve(t)
	for name, c := range map[string]struct{ ref, platform, want string }{
		"for another architecture":         {docker(t, arm), "", `architecture "arm64", want amd64`},
		"none for the architecture":        {"oci:" + oci(t, arm), "", "it is for linux/arm64, want linux/amd64"},
		"two for the architecture":         {"oci:" + oci(t, m, build(t, func(c *v1.ConfigFile) { c.Author = "x" })), "", "2 images for linux/amd64: export only one"},
		"for Windows":                      {docker(t, build(t, func(c *v1.ConfigFile) { c.OS = "windows" })), "", "for windows, want linux"},
		"for a platform without images":    {docker(t, m), "windows_x86_64", "images are for x86_64-pc-linux-gnu and aarch64-unknown-linux-gnu"},
		"without a command":                {docker(t, build(t, func(c *v1.ConfigFile) { c.Config.Entrypoint, c.Config.Cmd = nil, nil })), "", "no command: set ENTRYPOINT or CMD"},
		"with a huge environment":          {docker(t, build(t, func(c *v1.ConfigFile) { c.Config.Env = []string{"A=" + strings.Repeat("x", 1<<20)} })), "", "at most 65536 are allowed"},
		"an archive compressed with xz":    {write(t, []byte("\xfd7zXZ\x00 and more")), "", "compressed with xz: unpack it with unxz first"},
		"a compressed file that is cut":    {write(t, gz(whole)[:len(gz(whole))/2]), "", "decompress it (gzip): unexpected EOF"},
		"a compressed text":                {write(t, zst(t, []byte(strings.Repeat("text", 1000)))), "", "not a complete archive"},
		"a file called like an archive":    {"fit.tar.zst", "", "fit.tar.zst: no such file"},
		"without layers":                   {docker(t, mustConfig(t, empty.Image)), "", "no layers"},
		"a file that is not an archive":    {write(t, []byte(strings.Repeat("text", 1000))), "", "not a complete archive"},
		"an empty file":                    {write(t, nil), "", "empty archive"},
		"an archive of something else":     {write(t, testimage.Tar(testimage.File("a", "b", 0o644))), "", "neither manifest.json nor oci-layout"},
		"an archive that is cut off":       {write(t, whole[:len(whole)/2]), "", "not a complete archive"},
		"a manifest that is not JSON":      {write(t, testimage.Tar(testimage.File("manifest.json", "{", 0o644))), "", "manifest.json"},
		"several images":                   {write(t, testimage.Tar(testimage.File("manifest.json", "[{},{}]", 0o644))), "", "2 images: save only one"},
		"a configuration of 100 MB":        {write(t, testimage.Tar(huge, config)), "", "at most 4194304 are allowed"},
		"a manifest of 100 MB":             {write(t, testimage.Tar(testimage.File("manifest.json", strings.Repeat(" ", 100<<20), 0o644))), "", "at most 4194304 are allowed"},
		"an archive with a path up":        {write(t, testimage.Tar(testimage.File("oci-layout", "{}", 0o644), testimage.File("../../x", "b", 0o644))), "", "index.json"},
		"an archive with a link":           {write(t, testimage.Tar(testimage.File("oci-layout", "{}", 0o644), testimage.Of(tar.TypeSymlink, "index.json", "/etc/passwd"))), "", "index.json"},
		"a folder without prefix":          {oci(t, m), "", "write oci:/"},
		"a folder of something else":       {"oci:" + t.TempDir(), "", "index.json"},
		"a file that does not exist":       {"./fit.tar", "", "fit.tar"},
		"a name that is not one":           {"Fit It!", "", "neither a file nor a name in a registry"},
		"a name that no registry has":      {address + "/lab/none:1", "", "NAME_UNKNOWN"},
		"a digest that no registry has":    {push(t, address+"/lab/fit:1", m)[:len(address)+8] + "@sha256:" + strings.Repeat("0a", 32), "", "MANIFEST_UNKNOWN"},
		"a manifest that was changed":      {damaged(func(m v1.Image) v1.Hash { h, _ := m.Digest(); return h }, "schema"), "", "its manifest has the digest"},
		"a configuration that was altered": {damaged(func(m v1.Image) v1.Hash { h, _ := m.ConfigName(); return h }, "amd64"), "", "its configuration has the digest"},
	} {
		if c.platform == "" {
			c.platform = platform
		}
		m, err := image.Open(t.Context(), c.ref, c.platform)
		if err == nil {
			m.Close()
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
}

func zst(t *testing.T, content []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	must(t, err)
	return w.EncodeAll(content, nil)
}

func gz(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
}

func mustConfig(t *testing.T, m v1.Image) v1.Image {
	t.Helper()
	c, err := m.ConfigFile()
	must(t, err)
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Config.Cmd = "linux", "amd64", []string{"/fit"}
	if m, err = mutate.ConfigFile(m, c); err != nil {
		t.Fatal(err)
	}
	return m
}

// The content of a layer is compared with its checksum when it is read.
func TestLayerWithAnotherContent(t *testing.T) {
	m := build(t, nil)
	dir := oci(t, m)
	first, err := m.Layers()
	must(t, err)
	one, err := first[0].Digest()
	must(t, err)
	two, err := first[1].Digest()
	must(t, err)
	blobs := filepath.Join(dir, "blobs", "sha256")
	other, err := os.ReadFile(filepath.Join(blobs, two.Hex))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(blobs, one.Hex), other, 0o600))
	got, err := image.Open(t.Context(), "oci:"+dir, platform)
	must(t, err)
	defer got.Close()
	r, err := got.Layer(0)
	must(t, err)
	defer r.Close()
	if _, err := io.ReadAll(r); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("got %v", err)
	}
	if _, err := got.Flatten(); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("as one layer: %v", err)
	}
}

var must = testerr.Must
