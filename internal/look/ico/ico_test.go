package main

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"
)

// TestIcon draws the icon that there is, and looks at what Windows would find.
func TestIcon(t *testing.T) {
	svg, err := os.ReadFile("../icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	b, err := encode(svg, sizes)
	if err != nil {
		t.Fatal(err)
	}
	if n := int(binary.LittleEndian.Uint16(b[4:])); n != len(sizes) {
		t.Fatalf("%d pictures, want %d", n, len(sizes))
	}
	end := 6 + 16*len(sizes)
	for i, n := range sizes {
		entry := b[6+16*i:]
		size, at := int(binary.LittleEndian.Uint32(entry[8:])), int(binary.LittleEndian.Uint32(entry[12:]))
		if int(entry[0]) != n%256 || at != end {
			t.Fatalf("picture %d is of %d pixels at %d, want %d at %d", i, entry[0], at, n%256, end)
		}
		end += size
		picture := b[at : at+size]
		if n < pngFrom {
			if side, twice := binary.LittleEndian.Uint32(picture[4:]), binary.LittleEndian.Uint32(picture[8:]); int(side) != n || int(twice) != 2*n {
				t.Errorf("the bitmap of %d pixels is of %d by %d", n, side, twice)
			}
			continue
		}
		m, err := png.Decode(bytes.NewReader(picture))
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			x, y int
			want color.NRGBA
		}{
			{0, 0, color.NRGBA{}},                                // outside of a round corner
			{128, 8, color.NRGBA{0x15, 0x40, 0x3f, 255}},         // the ground
			{5 * 8, 21 * 8, color.NRGBA{0x7f, 0xd6, 0xc2, 255}},  // where the wings start
			{26 * 8, 12 * 8, color.NRGBA{0xc4, 0xb5, 0xfd, 255}}, // and end
		} {
			if got := color.NRGBAModel.Convert(m.At(tt.x, tt.y)); got != tt.want {
				t.Errorf("the colour at %d, %d is %v, want %v", tt.x, tt.y, got, tt.want)
			}
		}
	}
	if end != len(b) {
		t.Errorf("%d bytes, want %d", len(b), end)
	}
}

// TestOtherDrawings expects errors for drawings with unsupported features.
func TestOtherDrawings(t *testing.T) {
	svg, err := os.ReadFile("../icon.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ from, to string }{{"round", "butt"}, {"M5 21q5-7 9 0", "M5 21c5-7 9 0 1 1"}, {"#15403f", "teal"}, {"<rect", "<circle"}, {"</svg>", ""}} {
		other := strings.Replace(string(svg), change.from, change.to, 1)
		if _, err := encode([]byte(other), sizes); other == string(svg) || err == nil {
			t.Errorf("%q instead of %q: no error", change.to, change.from)
		}
	}
}
