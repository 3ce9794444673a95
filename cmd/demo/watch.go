package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"
)

const resolution = 1000 // steps of a progress bar

// watch shows the progress of the work until every workunit is assimilated. On a terminal it shows
// a bar for each running result and one for the whole. Elsewhere it prints a line whenever
// something is finished.
func watch(ctx context.Context, g *grid, out io.Writer) error {
	var view view = &lines{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		view = newBars(out, g.total)
	}
	defer view.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	counts, ended := make(chan testhost.Count), make(chan error, 1)
	go func() {
		ended <- g.project.Watch(ctx, func(c testhost.Count) bool {
			select {
			case counts <- c:
			case <-ctx.Done():
			}
			return true
		})
	}()
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	for count := (testhost.Count{}); ; {
		select {
		case err := <-ended:
			return err
		case count = <-counts:
		case <-tick.C:
		}
		var tasks []control.Task
		for i, a := range g.agents {
			s, err := a.Status(ctx)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				if err := g.revive(i); err != nil {
					return err
				}
				continue // looked at again in a moment
			}
			for _, t := range s.Tasks {
				if t.Running {
					t.App = fmt.Sprintf("host %d", i+1)
					tasks = append(tasks, t)
				}
			}
		}
		whole := float64(count.Workunits.Assimilated) / float64(g.total)
		view.show(tasks, int(count.Workunits.Assimilated), g.total, whole)
		if count.Done {
			return nil
		}
	}
}

// A view shows progress to a person.
type view interface {
	show(running []control.Task, done, total int, fraction float64)
	close()
}

// bars are live progress bars.
type bars struct {
	pool  *mpb.Progress
	whole *mpb.Bar
	tasks map[string]*mpb.Bar
}

func newBars(out io.Writer, total int) *bars {
	pool := mpb.New(mpb.WithOutput(out), mpb.WithWidth(60), mpb.WithAutoRefresh())
	return &bars{
		pool: pool, tasks: make(map[string]*mpb.Bar),
		whole: pool.AddBar(int64(total), mpb.BarPriority(1<<20),
			mpb.PrependDecorators(decor.Name("workunits done", decor.WC{W: 36, C: decor.DindentRight})),
			mpb.AppendDecorators(decor.CountersNoUnit("%d / %d"), decor.Elapsed(decor.ET_STYLE_MMSS, decor.WC{W: 8}))),
	}
}

func (b *bars) show(running []control.Task, done, _ int, _ float64) {
	live := make(map[string]bool)
	for _, t := range running {
		live[t.App+t.Name] = true
		bar := b.tasks[t.App+t.Name]
		if bar == nil {
			bar = b.pool.AddBar(resolution, mpb.BarRemoveOnComplete(),
				mpb.PrependDecorators(decor.Name(t.App+"  "+t.Name, decor.WC{W: 36, C: decor.DindentRight})),
				mpb.AppendDecorators(decor.Percentage()))
			b.tasks[t.App+t.Name] = bar
		}
		bar.SetCurrent(min(int64(t.Fraction*resolution), resolution-1))
	}
	for name, bar := range b.tasks {
		if !live[name] {
			bar.Abort(true)
			delete(b.tasks, name)
		}
	}
	b.whole.SetCurrent(int64(done))
}

func (b *bars) close() {
	for _, bar := range b.tasks {
		bar.Abort(true)
	}
	b.whole.Abort(false)
	b.pool.Wait()
}

// lines is progress for logs.
type lines struct {
	out  io.Writer
	done int
	said bool
}

func (l *lines) show(running []control.Task, done, total int, fraction float64) {
	if l.said && done == l.done {
		return
	}
	l.done, l.said = done, true
	fmt.Fprintf(l.out, "%3.0f%%  %d of %d workunits done, %d results running\n", 100*fraction, done, total, len(running))
}

func (*lines) close() {}
