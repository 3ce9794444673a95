package forecast_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/server/forecast"
)

func TestEstimate(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	ten := make([]forecast.Computer, 10) // 40 tasks at a time, of an hour each
	for i := range ten {
		ten[i] = forecast.Computer{Flops: 4e9, Task: 1e9}
	}
	const task = 3.6e12
	slow := append([]forecast.Computer{{Flops: 4e9, Task: 1e9, Turnaround: 50 * time.Hour}}, ten...)
	for _, tt := range []struct {
		name  string
		q     forecast.Question
		basis forecast.Basis
		wait  time.Duration
		left  time.Duration
	}{
		{
			"the computers have nothing else to do",
			forecast.Question{Flops: 400 * task, Task: task, Weight: 1, Computers: ten},
			forecast.Computers, 0, 10 * time.Hour,
		},
		{
			"one task takes its time, however many computers there are",
			forecast.Question{Flops: task, Task: task, Weight: 1, Computers: ten},
			forecast.Computers, 0, time.Hour,
		},
		{
			"the steps of a chain follow each other",
			forecast.Question{Flops: 40 * task, Task: task, Steps: 5, Weight: 1, Ahead: 80 * task, Computers: ten},
			forecast.Computers, 2 * time.Hour, 7 * time.Hour,
		},
		{
			"one slow computer is not the rule",
			forecast.Question{Flops: task, Task: task, Weight: 1, Computers: slow},
			forecast.Computers, 0, time.Hour,
		},
		{
			"others of the application come first",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Ahead: 80 * task, Computers: ten},
			forecast.Computers, 2 * time.Hour, 3 * time.Hour,
		},
		{
			"another application gets its part until it has no more",
			forecast.Question{Flops: 80 * task, Task: task, Weight: 1, Others: []forecast.Work{{Flops: 40 * task, Weight: 1}}, Computers: ten},
			forecast.Computers, 0, 3 * time.Hour,
		},
		{
			"by the weights of both",
			forecast.Question{Flops: 80 * task, Task: task, Weight: 4, Others: []forecast.Work{{Flops: 400 * task, Weight: 1}}, Computers: ten},
			forecast.Computers, 0, 150 * time.Minute,
		},
		{
			"another token takes turns by the weights of both",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Share: 2, Ahead: 40 * task, Peers: []forecast.Work{{Flops: 4000 * task, Weight: 1}, {Flops: 20 * task, Weight: 6}}, Computers: ten},
			forecast.Computers, time.Hour, 3 * time.Hour,
		},
		{
			"nobody is there",
			forecast.Question{Flops: 80 * task, Task: task, Weight: 1},
			forecast.None, 0, 0,
		},
		{
			"what a batch has done is too little to judge by",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Computers: ten, Started: now.Add(-99 * time.Hour), Workunits: 49, Left: 40},
			forecast.Computers, 0, time.Hour,
		},
		{
			"a batch continues at its pace",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Computers: ten, Started: now.Add(-10 * time.Hour), Workunits: 60, Left: 40},
			forecast.Pace, 0, 20 * time.Hour,
		},
		{
			"a batch whose computers have been away for a week",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Started: now.Add(-10 * time.Hour), Workunits: 60, Left: 40},
			forecast.Pace, 0, 20 * time.Hour,
		},
		{
			"a batch that is done",
			forecast.Question{Weight: 1, Computers: ten, Started: now.Add(-10 * time.Hour), Workunits: 3, Left: 0},
			forecast.Pace, 0, 0,
		},
		{
			"an application that is stopped",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Computers: ten, Stopped: true},
			forecast.Stopped, 0, 0,
		},
		{
			"only on GPUs whose speed is unknown",
			forecast.Question{Flops: 80 * task, Task: task, Weight: 1, Unmeasured: true},
			forecast.Unmeasured, 0, 0,
		},
		{
			"a quorum that needs more computers",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Computers: ten, Few: true, Started: now.Add(-10 * time.Hour), Workunits: 60, Left: 40},
			forecast.Few, 0, 0,
		},
		{
			"a quorum that needs computers",
			forecast.Question{Flops: 40 * task, Task: task, Weight: 1, Few: true},
			forecast.None, 0, 0,
		},
		{
			"more than anyone can wait for",
			forecast.Question{Flops: 1e30, Task: 1e30, Weight: 1, Computers: ten},
			forecast.Computers, 0, 100 * 365 * 24 * time.Hour,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Now = now
			got := forecast.Estimate(tt.q)
			if got.Basis != tt.basis || got.Wait.Round(time.Second) != tt.wait || got.Left.Round(time.Second) != tt.left || got.Computers != len(tt.q.Computers) {
				t.Errorf("got %+v, want %v, %v, %v", got, tt.basis, tt.wait, tt.left)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	var s forecast.Steps[string]
	for _, tt := range []struct {
		before, after string
		want          int
	}{{"", "", 1}, {"a", "b", 2}, {"a", "c", 2}, {"b", "d", 3}, {"a", "d", 3}, {"e", "f", 3}, {"d", "g", 4}} {
		if tt.after != "" {
			s.Add(tt.before, tt.after)
		}
		if got := s.Longest(); got != tt.want {
			t.Errorf("%s before %s: %d steps, want %d", tt.before, tt.after, got, tt.want)
		}
	}
}

// More work does not take less time, and more computers do not take more. The estimate ends for any
// values.
func TestEstimateIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		flops := rapid.Float64Range(0, 1e18)
		q := forecast.Question{Now: time.Unix(1e9, 0), Flops: flops.Draw(t, "flops"), Task: 1e12, Ahead: flops.Draw(t, "ahead"), Weight: rapid.Float64Range(1e-3, 1e6).Draw(t, "weight")}
		for range rapid.IntRange(0, 5).Draw(t, "others") {
			q.Others = append(q.Others, forecast.Work{Flops: flops.Draw(t, "other"), Weight: rapid.Float64Range(1e-3, 1e6).Draw(t, "its weight")})
		}
		for range rapid.IntRange(1, 5).Draw(t, "computers") {
			q.Computers = append(q.Computers, forecast.Computer{Flops: rapid.Float64Range(1, 1e12).Draw(t, "speed"), Task: 1e9})
		}
		was := forecast.Estimate(q)
		if was.Left < was.Wait || math.IsNaN(was.Rate) {
			t.Fatalf("%+v", was)
		}
		more := q
		more.Flops *= 2
		if got := forecast.Estimate(more); got.Left < was.Left-time.Second {
			t.Fatalf("twice the work: %v, %v before", got.Left, was.Left)
		}
		faster := q
		faster.Computers = append(faster.Computers, forecast.Computer{Flops: 1e12, Task: 1e9})
		if got := forecast.Estimate(faster); got.Left > was.Left+time.Second {
			t.Fatalf("with another computer: %v, %v before", got.Left, was.Left)
		}
	})
}

func TestAForecastInWords(t *testing.T) {
	for computers, want := range map[int]string{
		1: "done in about 9 s, without other work for the 1 computer active lately",
		2: "done in about 9 s, without other work for the 2 computers active lately",
	} {
		f := forecast.Forecast{Basis: forecast.Computers, Left: 9 * time.Second, Computers: computers}
		if got := f.Text().String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
