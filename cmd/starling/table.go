package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// A display is the destination of output and its properties.
type display struct {
	io.Writer
	width  int  // columns (0: as many as it takes)
	colour bool // and no NO_COLOR in the environment
	live   bool // it is drawn again and again
}

// on shows something on w. On a terminal, lines that are too long for it are folded.
func on(w io.Writer, show func(display)) {
	d := displayOn(w)
	if d.width <= 0 {
		show(d)
		return
	}
	var text bytes.Buffer
	out := d.Writer
	d.Writer = plainWriter{&text}
	show(d)
	for _, line := range fold(strings.TrimSuffix(text.String(), "\n"), d.width) {
		fmt.Fprintln(out, line)
	}
}

// displayOn looks at what w is.
func displayOn(w io.Writer) display {
	d := display{Writer: w}
	if p, ok := w.(plainWriter); ok {
		w = p.under
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.width, _, _ = term.GetSize(int(f.Fd()))
		d.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return d
}

// Colors of lines.
const (
	plain  = ""
	bold   = "\x1b[1m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// paint colors a line if the display has colors.
func (d display) paint(colour, line string) string {
	if !d.colour || colour == plain {
		return line
	}
	return colour + line + reset
}

// bar draws how far something is.
func bar(fraction float64, width int) string {
	fraction = min(max(fraction, 0), 1)
	n := int(fraction * float64(width))
	head := ""
	if n < width {
		head = ">"
	}
	return fmt.Sprintf("[%-*s] %3.0f %%", width, strings.Repeat("=", n)+head, 100*fraction)
}

// A column of a table. On a terminal that is too narrow, cells are cut to least characters, or
// never if it is 0.
type column struct {
	name  string
	least int
	extra bool // left out if the others have no room, the last such column first
	end   bool // cut at their end, like sentences, rather than in the middle, like names (the last column is folded instead)
}

// A table is lines of cells under a headline.
type table struct {
	columns []column
	rows    [][]string
	colours []string
}

func (t *table) add(colour string, cells ...string) {
	for i, c := range cells {
		cells[i] = strings.Join(strings.Fields(printable(c)), " ")
	}
	t.rows, t.colours = append(t.rows, cells), append(t.colours, colour)
}

// show writes the table as narrow as d is, if its columns can be cut so far.
func (t *table) show(d display) {
	t.columns = slices.Clone(t.columns)
	for i := range t.columns {
		t.columns[i].name = phrase(t.columns[i].name)
	}
	widths, sum := t.fit(d.width)
	for ; d.width > 0 && sum > d.width && t.leaveOut(); widths, sum = t.fit(d.width) {
	}
	head := make([]string, len(t.columns))
	for i, c := range t.columns {
		head[i] = c.name
	}
	fmt.Fprintln(d, d.paint(bold, t.line(head, widths)))
	last := len(t.columns) - 1
	for i, cells := range t.rows {
		long := t.columns[last].end && utf8.RuneCountInString(cells[last]) > widths[last]
		if !long {
			fmt.Fprintln(d, d.paint(t.colours[i], t.line(cells, widths)))
			continue
		}
		fmt.Fprintln(d, d.paint(t.colours[i], t.line(cells[:last], widths)))
		for _, line := range wrap(cells[last], max(d.width, leastFold)-len(below)) {
			fmt.Fprintln(d, d.paint(t.colours[i], below+line))
		}
	}
}

// A sentence that is too long for its column is folded below its row.
const (
	below     = "    "
	leastFold = 30 // columns of a window, below which lines are longer than that
)

// leaveOut takes out the last column that is extra, and reports whether there is one.
func (t *table) leaveOut() bool {
	for i, c := range slices.Backward(t.columns) {
		if c.extra {
			t.columns = slices.Delete(slices.Clone(t.columns), i, i+1)
			for n, cells := range t.rows {
				t.rows[n] = slices.Delete(cells, i, i+1)
			}
			return true
		}
	}
	return false
}

// fit finds how wide the columns are: sentences that can be folded give first, then the
// widest that may be cut.
func (t *table) fit(most int) (widths []int, sum int) {
	widths, sum = make([]int, len(t.columns)), 2*(len(t.columns)-1)
	for i, c := range t.columns {
		widths[i] = utf8.RuneCountInString(c.name)
		for _, cells := range t.rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		sum += widths[i]
	}
	for ; most > 0 && sum > most; sum-- {
		widest := -1
		for i, c := range t.columns {
			if last := len(t.columns) - 1; i == last && c.end && widths[i] > max(c.least, utf8.RuneCountInString(c.name)) {
				widest = i
				break
			}
			if c.least > 0 && widths[i] > max(c.least, utf8.RuneCountInString(c.name)) && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths, sum
}

func (t *table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, c := range cells {
		if n := utf8.RuneCountInString(c); n > widths[i] {
			c = cut(c, widths[i], t.columns[i].end)
		}
		fmt.Fprintf(&b, "%-*s  ", widths[i], c)
	}
	return strings.TrimRight(b.String(), " ")
}

// cut shortens a text to n characters.
func cut(s string, n int, end bool) string {
	r := []rune(s)
	if end {
		return string(r[:n-1]) + "…"
	}
	tail := (n - 1) / 2
	return string(r[:n-1-tail]) + "…" + string(r[len(r)-tail:])
}
