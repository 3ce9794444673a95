// Command diagrams draws the handbook's diagrams: go run ./docs/diagrams writes the files
// NAME.svg in docs/diagrams. They follow the reader's light or dark mode.
package main

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"
)

// A drawing collects the shapes of one diagram.
type drawing struct {
	strings.Builder
	width, height int
}

// style has the colors for light and dark mode.
const style = `<style>
text { font: 14px system-ui, sans-serif; fill: #1f2933 }
.note { font-size: 12px; fill: #52606d }
.title { font-weight: 600 }
.box { fill: #f5f7fa; stroke: #52606d }
.main { fill: #dcf2ef; stroke: #0f766e }
.bad { fill: #fbeadd; stroke: #b45309 }
.group { fill: none; stroke: #9aa5b1; stroke-dasharray: 5 4 }
.arrow { fill: none; stroke: #52606d; stroke-width: 1.5 }
.head { fill: #52606d }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb }
.note { fill: #a8b3bf }
.box { fill: #262c33; stroke: #9aa5b1 }
.main { fill: #123d3a; stroke: #4fb8ac }
.bad { fill: #45301c; stroke: #dd9a5a }
.group { stroke: #626f7c }
.arrow { stroke: #a8b3bf }
.head { fill: #a8b3bf }
}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>
`

// box draws a rectangle with centered lines of text. A line after the first is a note.
func (d *drawing) box(class string, x, y, w, h int, lines ...string) {
	fmt.Fprintf(d, "<rect class=%q x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", class, x, y, w, h)
	top := y + h/2 + 5 - 8*(len(lines)-1)
	for i, line := range lines {
		class := "title"
		if i > 0 {
			class = "note"
		}
		fmt.Fprintf(d, "<text class=%q x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", class, x+w/2, top+17*i, html.EscapeString(line))
	}
}

// group draws a dashed frame with a title.
func (d *drawing) group(x, y, w, h int, title string) {
	fmt.Fprintf(d, "<rect class=\"group\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"10\"/>\n", x, y, w, h)
	fmt.Fprintf(d, "<text class=\"title\" x=\"%d\" y=\"%d\">%s</text>\n", x+12, y+22, html.EscapeString(title))
}

// arrow draws a path with a head at its end, by the commands of SVG.
func (d *drawing) arrow(path string) {
	fmt.Fprintf(d, "<path class=\"arrow\" d=%q marker-end=\"url(#head)\"/>\n", path)
}

// note writes a small text.
func (d *drawing) note(x, y int, anchor, text string) {
	fmt.Fprintf(d, "<text class=\"note\" x=\"%d\" y=\"%d\" text-anchor=%q>%s</text>\n", x, y, anchor, html.EscapeString(text))
}

// svg returns the finished file.
func (d *drawing) svg(title string) string {
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\">\n<title>%s</title>\n%s%s</svg>\n",
		d.width, d.height, d.width, html.EscapeString(title), style, d.String())
}

// workunit shows the states of a workunit and its results.
func workunit() string {
	d := &drawing{width: 940, height: 420}
	d.group(10, 10, 920, 205, "Each result (two at first, for a quorum of two)")
	d.box("box", 30, 60, 120, 50, "INACTIVE", "files missing")
	d.box("box", 220, 60, 120, 50, "UNSENT", "waits for a host")
	d.box("main", 410, 60, 140, 50, "IN PROGRESS", "on a computer")
	d.box("main", 640, 60, 130, 50, "OVER: success", "reported")
	d.box("main", 810, 60, 100, 50, "VALID", "credit")
	d.box("bad", 640, 145, 130, 50, "OVER: failed", "error, no reply …")
	d.box("bad", 810, 145, 100, 50, "INVALID", "outvoted")
	d.arrow("M150 85H218")
	d.arrow("M340 85H408")
	d.arrow("M550 85H638")
	d.arrow("M770 85H808")
	d.arrow("M480 110V170H638")
	d.arrow("M770 98 808 155")
	d.note(374, 78, "middle", "sent")
	d.note(594, 78, "middle", "report")
	d.note(560, 162, "middle", "transitioner, report")
	d.arrow("M640 180H280V112")
	d.note(400, 195, "middle", "transitioner: another result")
	d.group(10, 235, 920, 170, "The workunit")
	d.box("box", 30, 275, 120, 50, "created", "work create")
	d.box("main", 220, 275, 150, 50, "canonical result", "a quorum agrees")
	d.box("bad", 220, 345, 150, 50, "given up", "too many errors …")
	d.box("main", 450, 310, 130, 50, "assimilated", "in results/")
	d.box("box", 640, 310, 130, 50, "files deleted", "after 24 hours")
	d.box("box", 810, 310, 100, 50, "archived", "after 30 days")
	d.arrow("M150 300H218")
	d.arrow("M150 310 218 362")
	d.arrow("M370 300 448 328")
	d.arrow("M370 370 448 342")
	d.arrow("M580 335H638")
	d.arrow("M770 335H808")
	return d.svg("The states of a workunit and its results")
}

// ports shows who connects to whom.
func ports() string {
	d := &drawing{width: 940, height: 420}
	d.group(20, 10, 510, 285, "A volunteer's computer")
	d.box("main", 380, 55, 130, 220, "starling", "the agent")
	for i, c := range []struct{ name, port string }{
		{"starling …", "control.sock"},
		{"browser", "127.0.0.1:31418"},
		{"BOINC's tools", "127.0.0.1:31416"},
		{"Prometheus", "127.0.0.1:metrics_port"},
	} {
		y := 55 + 60*i
		d.box("box", 40, y, 130, 40, c.name)
		d.arrow(fmt.Sprintf("M170 %dH378", y+20))
		d.note(272, y+14, "middle", c.port)
	}
	d.box("box", 380, 355, 150, 50, "paired computer", "starling --host")
	d.arrow("M470 355V277")
	d.note(480, 330, "start", "TLS :31419, off by default")
	d.box("box", 150, 355, 150, 50, "account manager")
	d.arrow("M420 275V320H225V353")
	d.note(235, 345, "start", "HTTPS :443")
	d.group(650, 10, 280, 285, "A project")
	d.box("main", 670, 55, 130, 220, "starling-server", "port of master_url")
	d.arrow("M510 165H668")
	d.note(590, 157, "middle", "HTTPS :443")
	for i, name := range []string{"PostgreSQL", "S3 bucket", "mail server"} {
		y := 85 + 60*i
		d.box("box", 824, y, 98, 40, name)
		d.arrow(fmt.Sprintf("M800 %dH822", y+20))
	}
	d.box("box", 620, 355, 130, 50, "scientist", "remote, api/v1")
	d.arrow("M705 355V277")
	d.note(697, 345, "end", "HTTPS :443")
	d.box("box", 775, 355, 130, 50, "operator", "browser, metrics")
	d.arrow("M785 355V277")
	d.note(793, 345, "start", "admin_listen")
	return d.svg("Connections and their ports")
}

func main() {
	for name, text := range map[string]string{"workunit": workunit(), "ports": ports()} {
		if err := os.WriteFile(filepath.Join("docs", "diagrams", name+".svg"), []byte(text), 0o644); err != nil { //nolint:gosec // a public file
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
