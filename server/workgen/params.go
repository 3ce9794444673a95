package workgen

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/credit"
)

// Params are an operator's settings for a workunit. Zero means not set: Complete replaces it with a
// default.
type Params struct {
	Name        string
	CommandLine string
	Priority    int64
	Batch       int64

	TargetNResults    int
	MinQuorum         int
	MaxErrorResults   int
	MaxTotalResults   int
	MaxSuccessResults int

	DelayBound     float64 // seconds
	RscFpopsEst    float64
	RscFpopsBound  float64
	RscMemoryBound float64 // bytes
	RscDiskBound   float64 // bytes

	RscBandwidthBound float64 // minimum download speed of a host in bytes a second (0: any)

	Credit float64 // that each valid result is worth (0: set by the application)
}

// The defaults. The ones for resources are BOINC's. BOINC's tool allows a single result and no
// error, so that one unlucky host ends a workunit. The limits here are the ones that its
// documentation used.
const (
	defaultMaxError    = 3
	defaultMaxTotal    = 10
	defaultMaxSuccess  = 6
	defaultFpopsEst    = 3.6e12
	defaultMemoryBound = 5e8
	defaultDiskBound   = 1e9
	defaultDelayBound  = 7 * 86400
	boundOverEst       = 24 // BOINC's default bound is 24 times its estimate
)

const (
	// maxDelay keeps deadlines within the range of numbers in clients.
	maxDelay = 10 * 365 * 86400
	// maxResults bounds the results of a workunit, of which one transaction makes the first ones.
	maxResults = 1000
)

// Complete fills in defaults and then refuses invalid values, all of them at once, with the
// reasons.
func (p Params) Complete() (Params, error) {
	negative := p.check()
	if p.MinQuorum == 0 {
		p.MinQuorum = 1
	}
	if p.TargetNResults == 0 {
		p.TargetNResults = p.MinQuorum
	}
	if p.MaxTotalResults == 0 {
		p.MaxTotalResults = max(defaultMaxTotal, p.TargetNResults, p.MaxErrorResults, p.MaxSuccessResults)
	}
	if p.MaxErrorResults == 0 {
		p.MaxErrorResults = min(defaultMaxError, p.MaxTotalResults)
	}
	if p.MaxSuccessResults == 0 {
		p.MaxSuccessResults = min(max(defaultMaxSuccess, p.TargetNResults), p.MaxTotalResults)
	}
	if p.RscFpopsEst == 0 {
		p.RscFpopsEst = defaultFpopsEst
		if p.RscFpopsBound > 0 {
			p.RscFpopsEst = min(p.RscFpopsEst, p.RscFpopsBound)
		}
	}
	if p.RscFpopsBound == 0 {
		p.RscFpopsBound = boundOverEst * p.RscFpopsEst
	}
	if p.RscMemoryBound == 0 {
		p.RscMemoryBound = defaultMemoryBound
	}
	if p.RscDiskBound == 0 {
		p.RscDiskBound = defaultDiskBound
	}
	if p.DelayBound == 0 {
		p.DelayBound = defaultDelayBound
	}
	if negative != nil {
		return p, negative
	}
	return p, p.contradictions()
}

// check looks at each value alone.
func (p Params) check() error {
	var errs []error
	for _, v := range []struct {
		name        string
		value, most float64
	}{
		{"target_nresults", float64(p.TargetNResults), maxResults},
		{"min_quorum", float64(p.MinQuorum), maxResults},
		{"max_error_results", float64(p.MaxErrorResults), maxResults},
		{"max_total_results", float64(p.MaxTotalResults), maxResults},
		{"max_success_results", float64(p.MaxSuccessResults), maxResults},
		{"delay_bound", p.DelayBound, maxDelay},
		{"rsc_fpops_est", p.RscFpopsEst, 1e30},
		{"rsc_fpops_bound", p.RscFpopsBound, 1e30},
		{"rsc_memory_bound", p.RscMemoryBound, 1e30},
		{"rsc_disk_bound", p.RscDiskBound, 1e30},
		{"rsc_bandwidth_bound", p.RscBandwidthBound, 1e30},
		{"credit", p.Credit, credit.Max},
		{"batch", float64(p.Batch), math.MaxInt64},
	} {
		switch {
		case !(v.value >= 0):
			errs = append(errs, fmt.Errorf("%s is %v, want a number above 0", v.name, words.Float(v.value)))
		case v.value > v.most:
			errs = append(errs, fmt.Errorf("%s is %v, want at most %v", v.name, words.Float(v.value), words.Float(v.most)))
		}
	}
	if p.DelayBound > 0 && p.DelayBound < 1 {
		errs = append(errs, fmt.Errorf("delay_bound is %v, want at least 1 second", words.Float(p.DelayBound)))
	}
	// Estimates that differ by a factor of two have separate queues.
	if least := min(cmp.Or(p.RscFpopsEst, 1), cmp.Or(p.RscFpopsBound, 1)); least > 0 && least < 1 {
		errs = append(errs, fmt.Errorf("rsc_fpops_est or rsc_fpops_bound is %v, want at least 1", words.Float(least)))
	}
	if p.Name != "" {
		if err := validName(p.Name); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// contradictions looks at values together.
func (p Params) contradictions() error {
	var errs []error
	less := func(a string, av float64, b string, bv float64, why string) {
		if av < bv {
			errs = append(errs, fmt.Errorf("%s (%v) is below %s (%v): %s", a, words.Float(av), b, words.Float(bv), why))
		}
	}
	target, quorum := float64(p.TargetNResults), float64(p.MinQuorum)
	total := float64(p.MaxTotalResults)
	less("target_nresults", target, "min_quorum", quorum, "the quorum could not be reached without a time-out")
	less("max_total_results", total, "target_nresults", target, "the initial results would already be too many")
	less("max_success_results", float64(p.MaxSuccessResults), "min_quorum", quorum, "the quorum would be too many successes")
	less("max_total_results", total, "max_success_results", float64(p.MaxSuccessResults), "more successes than results are impossible")
	less("max_total_results", total, "max_error_results", float64(p.MaxErrorResults), "more errors than results are impossible")
	less("rsc_fpops_bound", p.RscFpopsBound, "rsc_fpops_est", p.RscFpopsEst, "every result would be aborted before its estimated end")
	return errors.Join(errs...)
}

// maxWorkunitName leaves room for the suffixes in the names of results and files.
const maxWorkunitName = 200

func validName(name string) error {
	switch err := protocol.ValidFileName(name); {
	case err != nil:
		return fmt.Errorf("name: %w", err)
	case len(name) > maxWorkunitName:
		return fmt.Errorf("name is %d bytes long; at most %d are allowed", len(name), maxWorkunitName)
	case strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`&'`, c) }):
		return fmt.Errorf("name %q: only ASCII letters, digits and signs without a meaning in XML are allowed", name)
	}
	return nil
}

// Delay returns the delay bound, in whole seconds.
func (p Params) Delay() time.Duration { return time.Duration(math.Ceil(p.DelayBound)) * time.Second }
