package unsendable

import (
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// text describes the finding.
func (f *Finding) text(now time.Time) string {
	what, they, need := "results", "have", "they need"
	if f.Results == 1 {
		what, they, need = "result", "has", "it needs"
	}
	const active = "no computer active in the last 7 days "
	amounts := func(unit string) string {
		n, m := words.Bytes(f.Need).String(), words.Bytes(f.Most).String()
		if n == m {
			n, m = fmt.Sprintf("%.0f bytes", f.Need), fmt.Sprintf("%.0f bytes", f.Most)
		}
		if f.Results > 1 {
			n = "at least " + n
		}
		return fmt.Sprintf(" (%s %s%s, the most is %s%[3]s)", need, n, unit, m)
	}
	why := ""
	switch f.Cause {
	case NoHost:
		why = "no computer has contacted the project in the last 7 days"
	case NoVersion:
		why = "there is no version of it that may be sent"
	case Platform:
		why = active + "is of a platform for which it has a version"
		if f.Image {
			why = active + "can run its container image, which needs Starling's agent on Linux"
		}
	case PlanClass:
		why = active + "that has the right platform meets the requirements of a plan class (" + strings.Join(f.PlanClasses, ", ") + ")"
	case HRClass:
		why = active + "that can run it is of the class that homogeneous redundancy requires"
	case Had:
		why = "every computer active in the last 7 days, or its volunteer, has had a result of the same workunit"
	case Trusted:
		why = "the validator found a result suspicious, and " + active + "that can run it is of a trusted account and has had no result of the same workunit"
	case Memory:
		why = active + "that can run it has enough memory" + amounts("")
	case Disk:
		why = active + "that can run it and has the memory has enough disk space" + amounts("")
	case Bandwidth:
		why = active + "that can run it otherwise downloads fast enough" + amounts("/s")
	case Deadline:
		why = fmt.Sprintf("%sthat can run it otherwise is fast enough for the deadline (%s, the fastest takes %s)",
			active, words.Span(protocol.Seconds(f.Most)), words.Span(protocol.Seconds(f.Need)))
	}
	return fmt.Sprintf("%d %s of %s %s waited since %s: %s.", f.Results, what, f.App, they, words.Time(f.Since, now), why)
}

// cure returns the remedy for the operator.
func (f *Finding) cure() string {
	again := func(flag string) string {
		return "cancel them (starling-server work cancel) and create them again with a lower " + flag + ", if they need less than that; otherwise they wait for another computer"
	}
	switch f.Cause {
	case NoHost:
		return "check that the server is running and can be reached from outside at its address"
	case NoVersion, Platform:
		text := "publish a version with starling-server version add"
		if f.Image {
			text = "run starling doctor on a volunteer's computer with Linux, which explains why it cannot run images, or publish a version without --image"
		}
		if len(f.Platforms) > 0 {
			text += "; most active computers without one are of " + strings.Join(f.Platforms, ", ")
		}
		return text
	case PlanClass:
		return "publish a version without a plan class with starling-server version add, or change what the plan class requires in server.toml"
	case HRClass:
		return "wait for such a computer, or cancel them (starling-server work cancel) and create them again: the first computer that gets a result decides the class"
	case Had:
		return "wait for another volunteer; if a version fails everywhere, withdraw it with starling-server version deprecate; if results need not come from different computers, set one_result_per_host_per_wu = false in server.toml"
	case Trusted:
		return "trust an account whose computers you can rely on with starling-server user trust, or attach another computer to it"
	case Memory:
		return again("--rsc-memory-bound")
	case Disk:
		return again("--rsc-disk-bound")
	case Bandwidth:
		return again("--rsc-bandwidth-bound")
	}
	return "cancel them (starling-server work cancel) and create them again with a longer --delay-bound, or a smaller --rsc-fpops-est if they take less time than that; with idle_ignore_delay_bound = true in server.toml, idle computers are sent them nonetheless"
}
