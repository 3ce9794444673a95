package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ImageFile is the logical name of the file that describes the container image of an app version.
const ImageFile = "starling_image.json"

// Limits of an image. Agents refuse larger ones.
const (
	MaxImageLayers = 127       // as in other container systems
	MaxImageBytes  = 16 << 30  // of all layers, unpacked
	MaxImageFiles  = 500_000   // of all layers: entries of any type
	MaxImageDepth  = 64        // folders above a file
	MaxImageText   = 256 << 10 // bytes of the description
)

// An Image describes a container image. Agents need the layers, and the wrapper, which is the main
// program of the app version, the rest.
type Image struct {
	Layers  []ImageLayer `json:"layers"`        // the lowest first
	Command []string     `json:"command"`       // program of the image and its arguments
	Env     []string     `json:"env,omitempty"` // NAME=VALUE
	Dir     string       `json:"dir,omitempty"` // folder of the image whose files the program finds in its own
}

// An ImageLayer is a tar archive, compressed with gzip, that is a file of the app version.
type ImageLayer struct {
	DiffID string `json:"diff_id"` // SHA-256 of the uncompressed archive, as 64 hexadecimal digits
	NBytes int64  `json:"nbytes"`  // size of the uncompressed archive
}

const (
	imageLayerPrefix = "image_layer_"
	imageLayerSuffix = ".tgz"
)

// FileName returns the physical name of the layer's file. Images that share a layer share the file.
func (l ImageLayer) FileName() string { return imageLayerPrefix + l.DiffID + imageLayerSuffix }

// IsImageLayer reports whether a physical name is the name of a layer's file.
func IsImageLayer(name string) bool {
	return strings.HasPrefix(name, imageLayerPrefix) && strings.HasSuffix(name, imageLayerSuffix)
}

// ID identifies the files of the image, as 64 hexadecimal digits.
func (m Image) ID() string {
	h := sha256.New()
	for _, l := range m.Layers {
		fmt.Fprintln(h, l.DiffID)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// NBytes returns the size of all layers, unpacked.
func (m Image) NBytes() (sum int64) {
	for _, l := range m.Layers {
		sum += l.NBytes
	}
	return sum
}

// Check returns an error if the image is not one that agents run.
func (m Image) Check() error {
	switch {
	case len(m.Layers) == 0:
		return errors.New("the image has no layers")
	case len(m.Layers) > MaxImageLayers:
		return fmt.Errorf("the image has %d layers, at most %d are allowed", len(m.Layers), MaxImageLayers)
	}
	left := int64(MaxImageBytes)
	for i, l := range m.Layers {
		if raw, err := hex.DecodeString(l.DiffID); err != nil || len(raw) != sha256.Size || strings.ToLower(l.DiffID) != l.DiffID {
			return fmt.Errorf("layer %d has no SHA-256: %q", i+1, l.DiffID)
		}
		if l.NBytes < 0 || l.NBytes > left {
			return fmt.Errorf("the image has more than %d GB unpacked", int64(MaxImageBytes)>>30)
		}
		left -= l.NBytes
	}
	return nil
}

// ParseImage reads the description that a project has sent.
func ParseImage(text []byte) (Image, error) {
	var m Image
	if len(text) > MaxImageText {
		return m, fmt.Errorf("the description of the image has more than %d bytes", MaxImageText)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("the description of the image: %w", err)
	}
	return m, m.Check()
}

// imagePlatforms maps the platforms whose programs may be in an image to the platforms under which
// projects publish images. BOINC's clients do not announce the latter.
var imagePlatforms = map[string]string{
	"x86_64-pc-linux-gnu":       "x86_64-linux-image",
	"aarch64-unknown-linux-gnu": "aarch64-linux-image",
}

// ImagePlatform returns the platform of images with programs for a platform, or "" if there are
// none.
func ImagePlatform(platform string) string { return imagePlatforms[platform] }

// IsImagePlatform reports whether programs of a platform are images.
func IsImagePlatform(platform string) bool {
	for _, p := range imagePlatforms {
		if p == platform {
			return true
		}
	}
	return false
}
