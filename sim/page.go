package sim

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"time"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"percent": func(v float64) string { return fmt.Sprintf("%.2f %%", 100*v) },
	"colour":  colour,
}).Parse(pageText))

// The charts' size in their own units. The page scales them.
const (
	pageWidth  = 1200.0
	laneHeight = 22.0
	chart      = 180.0
)

// colour returns the color of the n-th project. Hues are a golden angle apart, so that neighbors
// differ no matter how many there are.
func colour(n int) template.CSS {
	return template.CSS(fmt.Sprintf("hsl(%.0f 62%% 52%%)", math.Mod(float64(n)*137.508+210, 360))) //nolint:gosec // a number
}

// Page writes a self-contained page about a run: the use of each CPU over time, the debts, the
// queue between its marks, the sessions, and the figures of merit.
func (h *History) Page(w io.Writer, s Scenario, seed int64, f Figures) error {
	if len(h.points) == 0 {
		return fmt.Errorf("scenario %s: nothing happened during the simulation", s.Name)
	}
	from, to := h.points[0].at, h.points[len(h.points)-1].at
	for _, st := range h.stretches {
		if st.to.After(to) {
			to = st.to
		}
	}
	p := page{history: h, from: from, span: to.Sub(from)}
	return pageTemplate.Execute(w, map[string]any{
		"Scenario": s, "Seed": seed, "Figures": f, "Days": p.span.Hours() / 24,
		"Width": pageWidth, "Lanes": template.HTML(p.lanes()), "LanesHeight": laneHeight * float64(len(h.lanes)), //nolint:gosec // numbers and checked names
		"Sessions": template.HTML(p.sessions(s)), "SessionsHeight": 10 * float64(len(s.Projects)), //nolint:gosec // likewise
		"Debts": template.HTML(p.debts(s)), "Queue": template.HTML(p.queue(s)), "Chart": chart, //nolint:gosec // likewise
		"Axis": template.HTML(p.axis()), //nolint:gosec // likewise
	})
}

type page struct {
	history *History
	from    time.Time
	span    time.Duration
}

func (p page) x(t time.Time) float64 {
	return pageWidth * t.Sub(p.from).Seconds() / math.Max(p.span.Seconds(), 1)
}

// lanes draws each CPU's time.
func (p page) lanes() string {
	var b strings.Builder
	for _, st := range p.history.stretches {
		x := p.x(st.from)
		fmt.Fprintf(&b, `<rect x="%.2f" y="%.0f" width="%.2f" height="%.0f" fill="%s"><title>%s, %s to %s</title></rect>`,
			x, float64(st.lane)*laneHeight+1, math.Max(p.x(st.to)-x-0.15, 0.3), laneHeight-2, colour(st.project),
			template.HTMLEscapeString(st.job), day(st.from), day(st.to))
	}
	return b.String()
}

// sessions draws a tick for each session, a project a row. Requests for work are higher.
func (p page) sessions(s Scenario) string {
	var b strings.Builder
	for _, e := range p.history.asked {
		height := 4.0
		if e.fetch {
			height = 9
		}
		fmt.Fprintf(&b, `<rect x="%.2f" y="%.1f" width="1.2" height="%.0f" fill="%s"><title>%s %s: %s</title></rect>`,
			p.x(e.at), float64(e.project)*10+10-height, height, colour(e.project),
			template.HTMLEscapeString(s.Projects[e.project].Name), day(e.at), template.HTMLEscapeString(e.why))
	}
	return b.String()
}

// debts draws a line for each project.
func (p page) debts(s Scenario) string {
	most := 1.0
	for _, pt := range p.history.points {
		for _, d := range pt.debts {
			most = math.Max(most, math.Abs(d))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<line class="grid" x1="0" x2="%.0f" y1="%.0f" y2="%.0f"/>`, pageWidth, chart/2, chart/2)
	for i := range s.Projects {
		var line strings.Builder
		for n, pt := range p.history.points {
			fmt.Fprintf(&line, "%s%.1f %.1f", move(n), p.x(pt.at), chart/2-pt.debts[i]/most*(chart/2-8))
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="1.6"><title>%s</title></path>`,
			line.String(), colour(i), template.HTMLEscapeString(s.Projects[i].Name))
	}
	fmt.Fprintf(&b, `<text x="4" y="14">+%s</text><text x="4" y="%.0f">−%s</text>`, hours(most), chart-5, hours(most))
	return b.String()
}

// queue draws the projects' queued work on top of each other, and the marks.
func (p page) queue(s Scenario) string {
	points := p.history.points
	most := 1.0
	for _, pt := range points {
		sum := 0.0
		for _, q := range pt.queue {
			sum += q
		}
		most = math.Max(most, math.Max(sum, pt.high))
	}
	y := func(v float64) float64 { return chart - v/most*(chart-16) }
	below := make([]float64, len(points))
	var b strings.Builder
	for i := range s.Projects {
		var up, down strings.Builder
		for n, pt := range points {
			fmt.Fprintf(&up, "%s%.1f %.1f", move(n), p.x(pt.at), y(below[n]+pt.queue[i]))
		}
		for n := len(points) - 1; n >= 0; n-- {
			fmt.Fprintf(&down, "L%.1f %.1f", p.x(points[n].at), y(below[n]))
			below[n] += points[n].queue[i]
		}
		fmt.Fprintf(&b, `<path d="%s%sZ" fill="%s" opacity=".85"><title>%s</title></path>`, up.String(), down.String(), colour(i),
			template.HTMLEscapeString(s.Projects[i].Name))
	}
	for _, mark := range []struct {
		v    float64
		name string
	}{{points[0].low, "low-water mark"}, {points[0].high, "high-water mark"}} {
		fmt.Fprintf(&b, `<line class="mark" x1="0" x2="%.0f" y1="%.1f" y2="%.1f"/><text x="4" y="%.1f">%s, %s</text>`,
			pageWidth, y(mark.v), y(mark.v), y(mark.v)-3, mark.name, hours(mark.v))
	}
	return b.String()
}

// axis draws the days.
func (p page) axis() string {
	total := p.span.Hours() / 24
	step := 1.0
	for total/step > 16 {
		step *= 2
	}
	var b strings.Builder
	for d := 0.0; d <= total; d += step {
		x := pageWidth * d / math.Max(total, 1e-9)
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="0" y2="5"/><text x="%.1f" y="17">day %.0f</text>`, x, x, x+2, d)
	}
	return b.String()
}

func move(n int) string {
	if n == 0 {
		return "M"
	}
	return "L"
}

func day(t time.Time) string {
	return fmt.Sprintf("day %d %s", int(t.Sub(midnight).Hours()/24), t.Format("15:04"))
}

func hours(seconds float64) string { return fmt.Sprintf("%.1f CPU h", seconds/3600) }
