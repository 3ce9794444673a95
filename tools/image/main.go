// Command image writes the agent as an image for containers (OCI image layout), without a
// daemon: a system's files and the programs, one layer each.
//
//	image -system system.tar -programs programs.tar -arch amd64 -version 1.2.3 DIR
//
// Two runs on the same files write the same, byte for byte.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run() error {
	system := flag.String("system", "", "tar file of the system")
	programs := flag.String("programs", "", "tar file of the programs")
	arch := flag.String("arch", "", "architecture, as Go names it")
	version := flag.String("version", "", "of the programs")
	flag.Parse()
	if *system == "" || *programs == "" || *arch == "" || flag.NArg() != 1 {
		flag.Usage()
		return errors.New("-system, -programs, -arch and a folder are needed")
	}
	made, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	img, err := build(*arch, *version, time.Unix(made, 0).UTC(), *system, *programs)
	if err != nil {
		return err
	}
	return write(flag.Arg(0), *arch, *version, img)
}

// build makes an image of layers, the lowest first.
func build(arch, version string, made time.Time, layers ...string) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, file := range layers {
		layer, err := tarball.LayerFromFile(file, tarball.WithMediaType(types.OCILayer))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		img, err = mutate.Append(img, mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "make image"},
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
	c.OS, c.Architecture, c.Created = "linux", arch, v1.Time{Time: made}
	c.Config = v1.Config{
		Entrypoint: []string{"/usr/bin/starling-container"},
		Env:        []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "STARLING_DATA=/data"},
		User:       "starling", WorkingDir: "/data", StopSignal: "SIGTERM",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"31419/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "Starling", "org.opencontainers.image.version": version,
			"org.opencontainers.image.description": "Contribute computing time to science", "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(img, c)
}

// write writes the image in the place of what the folder has for its architecture.
func write(dir, arch, version string, img v1.Image) error {
	p, err := layout.FromPath(dir)
	if err != nil {
		if p, err = layout.Write(dir, empty.Index); err != nil {
			return err
		}
	}
	platform := v1.Platform{OS: "linux", Architecture: arch}
	return p.ReplaceImage(img, func(d v1.Descriptor) bool { return d.Platform != nil && d.Platform.Equals(platform) },
		layout.WithPlatform(platform), layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
}
