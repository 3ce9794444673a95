package jobsched_test

import (
	"testing"
	"time"

	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/resource"
)

func TestWhatWillBeLateIsSaid(t *testing.T) {
	job := func(remaining, deadline float64) jobsched.Job {
		return jobsched.Job{Remaining: time.Duration(remaining * float64(time.Hour)), Deadline: late(deadline)}
	}
	suspended := job(3, 4)
	suspended.Suspended = true
	for _, tt := range []struct {
		name   string
		cpus   int
		onFrac float64
		jobs   []jobsched.Job
		want   []float64 // hours
	}{
		{"in time", 1, 1, []jobsched.Job{job(5, 6)}, []float64{0}},
		{"by itself too long", 1, 1, []jobsched.Job{job(563, 1)}, []float64{562}},
		{"its deadline is past", 1, 1, []jobsched.Job{job(1, -3)}, []float64{4}},
		{"on half of the time", 1, 0.5, []jobsched.Job{job(5, 6)}, []float64{4}},
		{"too many for one CPU", 1, 1, []jobsched.Job{job(5, 6), job(5, 7)}, []float64{0, 3}},
		{"for two it is enough", 2, 1, []jobsched.Job{job(5, 6), job(5, 7)}, []float64{0, 0}},
		{"one that is lost makes no other late", 1, 1, []jobsched.Job{job(50, 6), job(5, 7)}, []float64{44, 0}},
		{"nor does one that is suspended", 1, 1, []jobsched.Job{suspended, job(5, 5.5)}, []float64{0, 0}},
		{"a tenth is no more than a guess", 1, 1, []jobsched.Job{job(10, 9.5)}, []float64{0}},
		{"no deadline", 1, 1, []jobsched.Job{{Remaining: time.Hour}}, []float64{0}},
	} {
		for i, got := range (jobsched.Processors{Kind: resource.CPU, Now: now, Count: tt.cpus, OnFrac: tt.onFrac}).Late(tt.jobs) {
			if want := time.Duration(tt.want[i] * float64(time.Hour)); got != want {
				t.Errorf("%s: job %d is %v late, want %v", tt.name, i, got, want)
			}
		}
	}
}
