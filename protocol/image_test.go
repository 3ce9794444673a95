package protocol_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func layers(n int, bytes int64) protocol.Image {
	var m protocol.Image
	for range n {
		m.Layers = append(m.Layers, protocol.ImageLayer{DiffID: strings.Repeat("0a", 32), NBytes: bytes})
	}
	return m
}

func TestImageDescriptions(t *testing.T) {
	for name, c := range map[string]struct {
		image protocol.Image
		want  string // in the error, or "" if it is valid
	}{
		"one layer":                {layers(1, 1024), ""},
		"a layer that is repeated": {layers(protocol.MaxImageLayers, 1024), ""},
		"no layer":                 {protocol.Image{}, "no layers"},
		"too many layers":          {layers(protocol.MaxImageLayers+1, 1024), "128 layers"},
		"too large":                {layers(1, protocol.MaxImageBytes+1), "more than 16 GB"},
		"too large together":       {layers(2, protocol.MaxImageBytes-1), "more than 16 GB"},
		"a sum that overflows":     {layers(3, 1<<62), "more than 16 GB"},
		"negative":                 {layers(1, -1), "more than 16 GB"},
		"a path as digest":         {protocol.Image{Layers: []protocol.ImageLayer{{DiffID: "../../etc/passwd"}}}, "no SHA-256"},
		"capitals":                 {protocol.Image{Layers: []protocol.ImageLayer{{DiffID: strings.Repeat("0A", 32)}}}, "no SHA-256"},
	} {
		text, err := json.Marshal(c.image)
		must(t, err)
		switch got, err := protocol.ParseImage(text); {
		case c.want == "" && (err != nil || got.ID() != c.image.ID()):
			t.Errorf("%s: got %v, %v", name, got, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want an error with %q", name, err, c.want)
		}
	}
	if _, err := protocol.ParseImage(make([]byte, 100<<20)); err == nil {
		t.Error("100 MB are accepted as a description")
	}
}

func TestImageIDs(t *testing.T) {
	a, b := layers(1, 1), layers(2, 1)
	if a.ID() == b.ID() || a.ID() != layers(1, 2).ID() {
		t.Error("an image is identified by its layers, in their order")
	}
	if name := a.Layers[0].FileName(); !protocol.IsImageLayer(name) || protocol.ValidFileName(name) != nil {
		t.Errorf("%s is not a valid name of a layer", name)
	}
}
