package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/starling-grid/starling/server/assimilator"
)

// workSettings are the settings for the distribution of work and the handling of its results.
var workSettings = []setting{
	{
		name: "min_core_version",
		about: `The oldest version of BOINC's client that gets work, such as "7.4.22"; "" accepts
all. Starling's agent counts as the version of BOINC that it is compatible with.`,
		check: func(c *Config) error {
			_, err := CoreVersion(c.MinCoreVersion)
			return err
		},
	},
	{
		name: "daily_result_quota", preset: 100, most: 1e6,
		about: `Results that a computer may get each day, for each CPU. Errors lower a computer's
quota, down to 1, and good results raise it again.`,
	},
	{
		name: "min_sendwork_interval", preset: 6, most: 86400,
		about: `Minimum number of seconds between two requests of a computer that bring work.`,
	},
	{
		name: "next_rpc_delay", most: 14 * 86400,
		about: `Seconds after which clients contact the project again even if they need nothing. With
0 the server decides: it calls computers that got nothing back after half a minute at
first, and ever later the longer there was no work, at most ten a second. Set it where
idle computers must always ask after the same time: each costs a request each time.`,
	},
	{
		name: "max_wus_to_send", preset: 10, most: 1e5,
		about: `Most results sent in one reply, and most results for CPUs that a computer may have
at a time, both for each CPU.`,
	},
	{
		name: "max_wus_in_progress", most: 1e6,
	},
	{
		name: "max_wus_in_progress_gpu", most: 1e6,
		about: `Most results for GPUs (or other coprocessors) of one kind that a computer may have at
a time, for each of these.`,
	},
	{
		name: "gpu_multiplier", preset: 1, most: 1000,
		about: `As how many CPUs a GPU counts for max_wus_to_send, and, for results that compute on
it, for daily_result_quota.`,
	},
	{
		name: "max_ncpus", preset: 64, most: 1e5,
		about: `Most CPUs of a computer that count for these limits.`,
	},
	{
		name: "max_infeasible", most: 1e6,
		about: `Accounts with a computer that asked within the last 7 days and has too little memory,
disk or bandwidth for a result, before its workunit is given up; 0 gives nothing up.
Only accounts with credit count, and computers for which the application has a version.
starling-server status shows what waits for such computers; work retry revives it.`,
	},
	{
		name: "one_result_per_user_per_wu",
		about: `Whether a volunteer, or a computer, gets at most one result of a workunit.
Results of one computer that agree prove little. A result without success of a version that
was withdrawn (version deprecate) does not count.`,
	},
	{
		name: "one_result_per_host_per_wu", preset: true,
	},
	{
		name: "idle_ignore_delay_bound",
		about: `Whether a computer with an idle CPU (or GPU) is sent one result for it even if it would
not be done within its delay bound: estimates are what they are. BOINC's server
always does that.`,
	},
	{
		name: "anonymous_platform", preset: true,
		about: `Whether volunteers may compute with programs of their own, which they list in an
app_info.xml (BOINC's anonymous platform), instead of the project's. Their outputs are
validated like all others.`,
	},
	{
		name: "resend_lost_results", preset: true,
		about: `Whether a computer that lost a result, or never received it, is sent it again.`,
	},
	{
		name: "send_result_abort", preset: true,
		about: `Whether computers are ordered to abort results that are no longer needed.`,
	},
	{
		name: "reliable_on_priority", most: 1e9,
		about: `Results of this priority and above are urgent; 0: none. During the first 24 hours
they go to reliable computers only.`,
	},
	{
		name: "reliable_priority_on_over", most: 1e9,
		about: `Added to the priority of a result that replaces one that failed, was late or
disagreed with the others.`,
	},
	{
		name: "reliable_batch_end", preset: 100, most: 1e6,
		about: `The last results of a batch become urgent: those of its last tenth, and of at most
this many workunits; 0: never. Needs reliable_on_priority.`,
	},
	{
		name: "reliable_max_avg_turnaround", most: 100 * 86400,
		about: `A computer is reliable if it has had 10 valid results of an app version, returns
them within this many seconds on average (0: any time), and at most this share of
its recent results failed.`,
	},
	{
		name: "reliable_max_error_rate", preset: 0.05, most: 1,
	},
	{
		name: "reliable_reduced_delay_bound", preset: 0.5, most: 1,
		about: `The fraction of the delay bound within which an urgent result must be reported,
but at least twice its estimated run time; 0: the whole delay bound.`,
	},
	{
		name: "plan_class_spec",
		about: `A file of plan classes in the format of BOINC's server, such as plan_class_spec.xml,
beside this one; "" is none. Classes with keys that this server does not support
suit no computer.`,
	},
	{
		name: "affinity_hours", preset: 24, most: 24 * 365,
		about: `Hours for which a workunit is reserved for computers that have the files of its
predecessor (work create --predecessor), at the most: see affinity_silence_minutes.`,
	},
	{
		name: "affinity_silence_minutes", preset: 60, most: 60 * 24 * 365,
		about: `Minutes without a request after which such a computer is given up and any other may
have the workunit; the server has it make requests three times as often. 0: it has the
whole of affinity_hours.`,
	},
	{
		name: "affinity_gone_days", preset: 7, most: 3650,
		about: `Days without a request of any computer that has a file which a task made there
(work create --generated), after which a workunit that needs the file is given up; 0: it
waits for ever.`,
	},
	{
		name: "affinity_copies",
		about: `Whether computers upload each file that a task made for the next one of its chain
(work create --generated), so that the chain can move even when a computer never comes back.
Otherwise they upload such files only when they do not take the next task in time.`,
	},
	{
		name: "delete_delay_hours", preset: 24, most: 24 * 3650,
		about: `Hours for which the files of a workunit are kept after it was assimilated and its
last result was reported or due. Until then, late results are validated and get
credit, and work retry can revive a workunit that was given up.`,
	},
	{
		name: "purge_after_days", preset: 30, most: 36500,
		about: `Days after the deletion of its files until a finished workunit is moved, with its
results, from the database to archive/; 0 keeps all. Files uploaded after that, or a
day after the files of their result were deleted, are deleted.`,
	},
	{
		name: "validators_at_once", most: 1000,
		about: `Programs of validators (exec:CMD) that run at a time; 0: as many as there are processors.`,
	},
	{
		name: "assimilators_at_once", preset: 1, most: 1000,
		about: `Programs of assimilators (exec:CMD) that run at a time. With more than 1, such a program
must bear that another of it runs beside it for another workunit.`,
	},
	{
		name: "results_folders", preset: assimilator.Flat,
		about: `How results/ is divided, for applications whose outcomes are copied there. "batch_or_day", as new
projects have it, puts a workunit's folder into batch_7 if it is in batch 7, and else into the day
on which it was created, for example 2027-01-31 (UTC). "day" does the latter always; "batch" has one folder,
no_batch, for what is in no batch; "flat" has no folders in between, which are slow to look through
with more than some hundred thousand. A change is for outcomes that are yet to come.`,
		check: func(c *Config) error {
			if !slices.Contains(assimilator.Divisions, c.ResultsFolders) {
				return fmt.Errorf("%q: want one of %s", c.ResultsFolders, strings.Join(assimilator.Divisions, ", "))
			}
			return nil
		},
	},
}
