// Command ico draws the icon as Windows has icons, for the installer:
//
//	go run ./internal/look/ico internal/look/icon.svg FILE.ico
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"os"
)

// sizes are the sizes that Windows asks for. From pngFrom on they are compressed.
var sizes = []int{16, 24, 32, 48, 64, 256}

const pngFrom = 256

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: ico DRAWING.svg FILE.ico")
		os.Exit(2)
	}
	b, err := os.ReadFile(os.Args[1])
	if err == nil {
		b, err = encode(b, sizes)
	}
	if err == nil {
		err = os.WriteFile(os.Args[2], b, 0o644) //nolint:gosec // for everybody to see
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ico:", err)
		os.Exit(1)
	}
}

// encode makes an icon of a drawing in SVG.
//
// Source: Microsoft's documentation of ICONDIR, ICONDIRENTRY and BITMAPINFOHEADER.
func encode(svg []byte, sizes []int) ([]byte, error) {
	d, err := parse(svg)
	if err != nil {
		return nil, err
	}
	var head, pictures bytes.Buffer
	write := func(w *bytes.Buffer, values ...any) {
		for _, v := range values {
			_ = binary.Write(w, binary.LittleEndian, v) // to memory
		}
	}
	write(&head, uint16(0), uint16(1), uint16(len(sizes))) //nolint:gosec // a handful
	at := 6 + 16*len(sizes)
	for _, n := range sizes {
		m := d.draw(n)
		var picture bytes.Buffer
		if n >= pngFrom {
			if err := png.Encode(&picture, m); err != nil {
				return nil, err
			}
		} else {
			bitmap(&picture, m, write)
		}
		side := uint8(n % 256)                                                                                                //nolint:gosec // 0 means 256
		write(&head, side, side, uint8(0), uint8(0), uint16(1), uint16(32), uint32(picture.Len()), uint32(at+pictures.Len())) //nolint:gosec // some kilobytes
		pictures.Write(picture.Bytes())
	}
	return append(head.Bytes(), pictures.Bytes()...), nil
}

// bitmap writes a picture from its last line to its first, and an empty mask, because the pixels
// have alpha values.
func bitmap(w *bytes.Buffer, m *image.NRGBA, write func(*bytes.Buffer, ...any)) {
	n := m.Rect.Dx()
	mask := (n + 31) / 32 * 4 * n
	write(w, uint32(40), int32(n), int32(2*n), uint16(1), uint16(32), uint32(0), uint32(4*n*n+mask), int32(0), int32(0), uint32(0), uint32(0)) //nolint:gosec // some kilobytes
	for y := n - 1; y >= 0; y-- {
		for x := range n {
			c := m.NRGBAAt(x, y)
			w.Write([]byte{c.B, c.G, c.R, c.A})
		}
	}
	w.Write(make([]byte, mask))
}
