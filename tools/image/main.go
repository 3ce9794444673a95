// Command image writes a program as an image for containers (OCI image layout), without a
// daemon and without root:
//
//	image -program starling|starling-server -version 1.2.3 [-system system.tar] DIR ARCH=FOLDER…
//
// FOLDER holds the files of an architecture, as they lie below the root of the image. Below them is
// -system, a tar file with a whole system, or else the little that a static program needs: a
// user, CA certificates and empty folders. Two runs on the same files write the same image.
package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/match"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// A program is one that has an image.
type program struct {
	config v1.Config
	home   string // its volume, which belongs to its user
}

const refName = "org.opencontainers.image.ref.name"

var programs = map[string]program{
	"starling": {
		home: "/data",
		config: v1.Config{
			Entrypoint: []string{"/usr/bin/starling"}, Cmd: []string{"run", "--remote-port", "31419"},
			Env:          []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "STARLING_DATA=/data"},
			ExposedPorts: map[string]struct{}{"31419/tcp": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title": "Starling", "org.opencontainers.image.description": "Contribute computing time to science",
			},
		},
	},
	"starling-server": {
		home: "/project",
		config: v1.Config{
			Entrypoint: []string{"/usr/bin/starling-server"}, Cmd: []string{"serve", "/project"},
			Env:          []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"},
			ExposedPorts: map[string]struct{}{"80/tcp": {}, "443/tcp": {}},
			Labels: map[string]string{
				"org.opencontainers.image.title": "Starling server", "org.opencontainers.image.description": "Run a volunteer-computing project",
			},
		},
	},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run() error {
	name := flag.String("program", "", "starling or starling-server")
	version := flag.String("version", "", "of the program")
	system := flag.String("system", "", "tar file of a system to put below the program")
	flag.Parse()
	p, ok := programs[*name]
	if !ok || flag.NArg() < 2 {
		flag.Usage()
		return errors.New("want -program, -version, a folder and the files of each architecture")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	made := time.Unix(seconds, 0).UTC()
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, arg := range flag.Args()[1:] {
		arch, folder, _ := strings.Cut(arg, "=")
		img, err := p.image(arch, *version, made, *system, folder)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	return write(flag.Arg(0), *version, index)
}

// image makes the image of one architecture.
func (p program) image(arch, version string, made time.Time, system, folder string) (v1.Image, error) {
	below, err := minimal(p.home, made)
	if system != "" {
		below, err = os.ReadFile(system)
	}
	if err != nil {
		return nil, err
	}
	files, err := tarOf(folder, made)
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, content := range [][]byte{below, files} {
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, err
		}
		img, err = mutate.Append(img, mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "tools/image"},
		})
		if err != nil {
			return nil, err
		}
	}
	c, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	c = c.DeepCopy()
	c.OS, c.Architecture, c.Created, c.Config = "linux", arch, v1.Time{Time: made}, *p.config.DeepCopy()
	c.Config.User, c.Config.WorkingDir, c.Config.StopSignal = "starling", p.home, "SIGTERM"
	c.Config.Volumes = map[string]struct{}{p.home: {}}
	c.Config.Labels["org.opencontainers.image.version"] = version
	c.Config.Labels["org.opencontainers.image.licenses"] = "Apache-2.0"
	c.Config.Labels["org.opencontainers.image.source"] = "https://github.com/starling-grid/starling"
	return mutate.ConfigFile(img, c)
}

// minimal returns the files of a system with only a static program. The certificates are Mozilla's
// list in the version that go.mod fixes, because this computer's list may change.
func minimal(home string, made time.Time) ([]byte, error) {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		cert, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, err
		}
		if root.Constraint == nil { // a file of certificates cannot limit one to some names
			if err := pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}); err != nil {
				return nil, err
			}
		}
	}
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, f := range []struct {
		name, text string
		mode       int64
		uid        int
	}{
		{"etc/", "", 0o755, 0},
		{"etc/group", "root:x:0:\nstarling:x:1000:\n", 0o644, 0},
		{"etc/passwd", "root:x:0:0:root:/:/sbin/nologin\nstarling:x:1000:1000:Starling:" + home + ":/sbin/nologin\n", 0o644, 0},
		{"etc/ssl/", "", 0o755, 0},
		{"etc/ssl/certs/", "", 0o755, 0},
		{"etc/ssl/certs/ca-certificates.crt", roots.String(), 0o644, 0},
		{home[1:] + "/", "", 0o700, 1000},
		{"tmp/", "", 0o1777, 0},
	} {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Uid: f.uid, Gid: f.uid, Size: int64(len(f.text)), ModTime: made, Format: tar.FormatUSTAR}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(t, f.text); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}

// tarOf packs a folder, whose files belong to root.
func tarOf(folder string, made time.Time) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: info.Size(), ModTime: made, Format: tar.FormatUSTAR}
		if info.Mode()&0o100 != 0 {
			h.Mode = 0o755
		}
		if d.IsDir() {
			h.Typeflag, h.Size = tar.TypeDir, 0
			h.Name += "/"
			return t.WriteHeader(h)
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = t.Write(content)
		return err
	})
	err = errors.Join(err, t.Close())
	return b.Bytes(), err
}

// write puts the images of all architectures, under the version's name, in the place of those
// that the folder has of it.
func write(dir, version string, index v1.ImageIndex) error {
	p, err := layout.FromPath(dir)
	if err != nil {
		if p, err = layout.Write(dir, empty.Index); err != nil {
			return err
		}
	}
	return p.ReplaceIndex(index, match.Name(version), layout.WithAnnotations(map[string]string{refName: version}))
}
