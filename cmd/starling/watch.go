package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/sysfault"
)

// frame is the interval at which --watch asks the agent.
const frame = time.Second

// Control sequences that switch a terminal to a separate screen without a cursor and without folded
// lines, and back again, and that draw a frame over the last one.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	firstLine   = "\x1b[H"
	clearLine   = "\x1b[K"
	clearRest   = "\x1b[J"
)

// watch draws on the terminal until ctx ends or a key ends it.
func watch(ctx context.Context, o *options, human func(display, control.Status)) error {
	in, out := int(os.Stdin.Fd()), int(os.Stdout.Fd())
	if !term.IsTerminal(out) {
		return fault("--watch needs a terminal; for output that programs can read, use --json")
	}
	keys := make(chan key)
	if term.IsTerminal(in) {
		before, err := term.MakeRaw(in)
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(in, before) }()
		go readKeys(os.Stdin, keys) // ends with the program
	}
	fmt.Print(enterScreen)
	defer fmt.Print(leaveScreen)
	tick := time.NewTicker(frame)
	defer tick.Stop()
	text, top := o.frame(ctx, human), 0
	for ctx.Err() == nil {
		width, height, err := term.GetSize(out)
		if err != nil {
			return err
		}
		var page []string
		page, top = visible(fold(text, width), top, height)
		fmt.Print(firstLine + strings.Join(page, clearLine+"\r\n") + clearLine + clearRest)
		select {
		case <-ctx.Done():
		case <-tick.C:
			text = o.frame(ctx, human)
		case k := <-keys:
			if k == quit {
				return nil
			}
			top = k.scroll(top, height)
		}
	}
	return nil
}

// frame returns the current content of the display.
func (o *options) frame(ctx context.Context, human func(display, control.Status)) string {
	d := displayOn(os.Stdout)
	d.live = true
	var text bytes.Buffer
	d.Writer = plainWriter{&text}
	s, err := o.status(ctx)
	if err != nil {
		return local(sysfault.Text(err))
	}
	if !s.Running {
		phraseln(d, "No agent is running; {command}", "command", o.start())
	}
	human(d, s)
	return strings.TrimRight(text.String(), "\n")
}

// visible returns the lines that fit a window of height lines, and the index of the first. If not
// all fit, the last line has the range shown and the keys.
func visible(lines []string, top, height int) ([]string, int) {
	if len(lines) <= height || height < 2 {
		return lines[:min(len(lines), max(height, 0))], 0
	}
	rows := height - 1
	top = min(max(top, 0), len(lines)-rows)
	page := append([]string{}, lines[top:top+rows]...)
	return append(page, fmt.Sprintf("lines %d to %d of %d (arrow keys scroll, q quits)", top+1, top+rows, len(lines))), top
}

var (
	painted = regexp.MustCompile(`^(\x1b\[\d+m)(.*)(\x1b\[0m)$`)
	// labelled is a line whose text has a label in front, or blanks.
	labelled = regexp.MustCompile(`^( *\S{1,14}( \S{1,12})? {2,}| +)`)
)

// fold breaks lines that are wider than the window between words. The rest of a line is indented to
// its text, not to its label.
func fold(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		colour, end := "", ""
		if m := painted.FindStringSubmatch(line); m != nil {
			colour, line, end = m[1], m[2], m[3]
		}
		indent := len(labelled.FindString(line))
		if indent > 2*width/3 {
			indent = 0
		}
		for utf8.RuneCountInString(line) > width && width > 0 {
			r := []rune(line)
			at := width
			for i := width; i > indent; i-- {
				if r[i] == ' ' {
					at = i
					break
				}
			}
			lines = append(lines, colour+strings.TrimRight(string(r[:at]), " ")+end)
			line = strings.Repeat(" ", indent) + strings.TrimLeft(string(r[at:]), " ")
		}
		lines = append(lines, colour+line+end)
	}
	return lines
}

// A key is a person's command to the display.
type key int

const (
	none key = iota
	quit
	lineUp
	lineDown
	pageUp
	pageDown
	home
	bottom
)

// scroll moves the first line that is seen.
func (k key) scroll(top, height int) int {
	switch k {
	case lineUp:
		return top - 1
	case lineDown:
		return top + 1
	case pageUp:
		return top - (height - 2)
	case pageDown:
		return top + (height - 2)
	case home:
		return 0
	case bottom:
		return 1 << 30
	}
	return top
}

// readKeys sends the keys that are typed, until the input ends.
func readKeys(r io.Reader, keys chan<- key) {
	b := make([]byte, 64)
	for {
		n, err := r.Read(b)
		if err != nil {
			return
		}
		if k := keyOf(string(b[:n])); k != none {
			keys <- k
		}
	}
}

// keyOf returns the key for the bytes that it sends.
func keyOf(s string) key {
	switch s {
	case "\x03", "\x04", "q", "Q": // Ctrl-C and Ctrl-D, which a raw terminal does not act on
		return quit
	case "\x1b[A", "\x1bOA", "k":
		return lineUp
	case "\x1b[B", "\x1bOB", "j":
		return lineDown
	case "\x1b[5~", "b":
		return pageUp
	case "\x1b[6~", " ":
		return pageDown
	case "\x1b[H", "\x1bOH", "\x1b[1~", "g":
		return home
	case "\x1b[F", "\x1bOF", "\x1b[4~", "G":
		return bottom
	}
	return none
}
