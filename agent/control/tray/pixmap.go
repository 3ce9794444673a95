package tray

import (
	"bytes"
	_ "embed"
	"image/color"
	"image/png"
)

// picture is internal/look/icon.svg in 64 pixels.
//
//go:embed icon.png
var picture []byte

// A pixmap is a picture as the specification has it: four bytes for each pixel, alpha first.
type pixmap struct {
	Width, Height int32
	Pixels        []byte
}

// pixmaps returns the picture for panels that do not find the icon by its name. Only the packages
// install it under its name.
func pixmaps() []pixmap {
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return []pixmap{}
	}
	b := img.Bounds()
	p := pixmap{Width: int32(b.Dx()), Height: int32(b.Dy())} //nolint:gosec // 64
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c, _ := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			p.Pixels = append(p.Pixels, c.A, c.R, c.G, c.B)
		}
	}
	return []pixmap{p}
}
