package main

import (
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A drawing is as much of SVG as the icon uses: a filled rectangle with round corners, and
// strokes of one width with round ends. Anything else is an error.
type drawing struct {
	size    float64 // of its square
	radius  float64 // of the corners
	ground  color.RGBA
	width   float64 // of the strokes
	strokes []stroke
}

type stroke struct {
	ink    color.RGBA
	points []point // of a line
}

type point struct{ x, y float64 }

func parse(svg []byte) (d drawing, err error) {
	var v struct {
		ViewBox string `xml:"viewBox,attr"`
		Rect    struct {
			Width  float64 `xml:"width,attr"`
			Radius float64 `xml:"rx,attr"`
			Fill   string  `xml:"fill,attr"`
		} `xml:"rect"`
		Group struct {
			Width float64 `xml:"stroke-width,attr"`
			Cap   string  `xml:"stroke-linecap,attr"`
			Paths []struct {
				D   string `xml:"d,attr"`
				Ink string `xml:"stroke,attr"`
			} `xml:"path"`
		} `xml:"g"`
	}
	if err := xml.Unmarshal(svg, &v); err != nil { //nolint:gosec // the repository's own file
		return d, err
	}
	d.size, d.radius, d.width = v.Rect.Width, v.Rect.Radius, v.Group.Width
	if want := fmt.Sprintf("0 0 %g %g", d.size, d.size); v.ViewBox != want || d.size <= 0 || v.Group.Cap != "round" || len(v.Group.Paths) == 0 {
		return d, fmt.Errorf("not a square of rectangle and strokes with round ends: viewBox %q", v.ViewBox)
	}
	if d.ground, err = parseColour(v.Rect.Fill); err != nil {
		return d, err
	}
	for _, p := range v.Group.Paths {
		s := stroke{}
		if s.ink, err = parseColour(p.Ink); err == nil {
			s.points, err = parsePath(p.D)
		}
		if err != nil {
			return d, err
		}
		d.strokes = append(d.strokes, s)
	}
	return d, nil
}

func parseColour(text string) (c color.RGBA, err error) {
	c.A = 255
	_, err = fmt.Sscanf(text, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c, err
}

// bend is the number of straight lines that replace a curve.
const bend = 12

// parsePath reads a start (M) and quadratic curves from point to point (q).
func parsePath(d string) (line []point, err error) {
	start, curves, _ := strings.Cut(d, "q")
	v, err := numbers(strings.TrimPrefix(start, "M"), 2)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", d, err)
	}
	at := point{v[0], v[1]}
	line = []point{at}
	for c := range strings.SplitSeq(curves, "q") {
		if v, err = numbers(c, 4); err != nil {
			return nil, fmt.Errorf("path %q: %w", d, err)
		}
		for i := 1; i <= bend; i++ {
			t := float64(i) / bend
			line = append(line, point{at.x + 2*t*(1-t)*v[0] + t*t*v[2], at.y + 2*t*(1-t)*v[1] + t*t*v[3]})
		}
		at = line[len(line)-1]
	}
	return line, nil
}

// numbers are so many, which blanks, commas or signs separate.
func numbers(text string, n int) (all []float64, err error) {
	for word := range strings.FieldsSeq(strings.NewReplacer("-", " -", ",", " ").Replace(text)) {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	if len(all) != n {
		return nil, fmt.Errorf("%q is not %d numbers", text, n)
	}
	return all, nil
}

// fine is the number of samples of a pixel in each direction.
const fine = 4

// draw makes a picture of so many pixels a side.
func (d drawing) draw(pixels int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, pixels, pixels))
	scale := d.size / float64(pixels)
	for y := range pixels {
		for x := range pixels {
			var r, g, b, a int
			for i := range fine * fine {
				c := d.at(point{(float64(x) + (float64(i%fine)+0.5)/fine) * scale, (float64(y) + (float64(i/fine)+0.5)/fine) * scale})
				if c.A > 0 {
					r, g, b, a = r+int(c.R), g+int(c.G), b+int(c.B), a+1
				}
			}
			if a > 0 {
				m.SetNRGBA(x, y, color.NRGBA{uint8(r / a), uint8(g / a), uint8(b / a), uint8(a * 255 / (fine * fine))}) //nolint:gosec // means of bytes
			}
		}
	}
	return m
}

// at returns the color at a point, or the zero value outside the drawing.
func (d drawing) at(p point) color.RGBA {
	for _, s := range slices.Backward(d.strokes) {
		line := s.points
		for j := range line[1:] {
			if distance(p, line[j], line[j+1]) <= d.width/2 {
				return s.ink
			}
		}
	}
	x := max(d.radius-p.x, p.x-(d.size-d.radius), 0)
	y := max(d.radius-p.y, p.y-(d.size-d.radius), 0)
	if math.Hypot(x, y) <= d.radius {
		return d.ground
	}
	return color.RGBA{}
}

// distance returns the distance of p from the line between a and b.
func distance(p, a, b point) float64 {
	dx, dy := b.x-a.x, b.y-a.y
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(max(((p.x-a.x)*dx+(p.y-a.y)*dy)/length, 0), 1)
	}
	return math.Hypot(p.x-a.x-t*dx, p.y-a.y-t*dy)
}
