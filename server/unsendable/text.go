package unsendable

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/protocol"
)

// text describes the finding.
func (f *Finding) text(now time.Time) words.Text {
	return words.Plural(int(f.Results), "{n} result of {app} has waited since {time}: {why}.", "{n} results of {app} have waited since {time}: {why}.",
		"app", f.App, "time", words.UTC(words.Time, f.Since, now), "why", f.why())
}

// why describes the cause.
func (f *Finding) why() words.Text {
	switch f.Cause {
	case NoHost:
		return words.T("no computer has contacted the project in the last 7 days")
	case NoVersion:
		return words.T("there is no version of it that may be sent")
	case Platform:
		if f.Image {
			return words.T("no computer active in the last 7 days can run its container image, which needs Starling's agent on Linux")
		}
		return words.T("no computer active in the last 7 days is of a platform for which it has a version")
	case PlanClass:
		return words.T("no computer active in the last 7 days that has the right platform meets the requirements of a plan class ({classes})",
			"classes", strings.Join(f.PlanClasses, ", "))
	case HRClass:
		return words.T("no computer active in the last 7 days that can run it is of the class that homogeneous redundancy requires")
	case Had:
		return words.T("every computer active in the last 7 days, or its volunteer, has had a result of the same workunit")
	case Trusted:
		return words.T("the validator found a result suspicious, and no computer active in the last 7 days that can run it is of a trusted account and has had no result of the same workunit")
	case Memory:
		return words.T("no computer active in the last 7 days that can run it has enough memory ({amounts})", "amounts", f.amounts(false))
	case Disk:
		return words.T("no computer active in the last 7 days that can run it and has the memory has enough disk space ({amounts})", "amounts", f.amounts(false))
	case Bandwidth:
		return words.T("no computer active in the last 7 days that can run it otherwise downloads fast enough ({amounts})", "amounts", f.amounts(true))
	case Deadline:
		return words.T("no computer active in the last 7 days that can run it otherwise is fast enough for the deadline ({deadline}, the fastest takes {time})",
			"deadline", words.Span(protocol.Seconds(f.Most)), "time", words.Span(protocol.Seconds(f.Need)))
	}
	return words.Text{}
}

// amounts are the need of the results and the most that a computer has, in bytes or bytes per second.
func (f *Finding) amounts(perSecond bool) words.Text {
	need, most := words.Bytes(f.Need), words.Bytes(f.Most)
	if need.String() == most.String() {
		need, most = words.Count(int(f.Need), "byte"), words.Count(int(f.Most), "byte")
	}
	if perSecond {
		need, most = words.T("{amount}/s", "amount", need), words.T("{amount}/s", "amount", most)
	}
	return words.Plural(int(f.Results), "it needs {need}, the most is {most}", "they need at least {need}, the most is {most}", "need", need, "most", most)
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
