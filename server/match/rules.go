package match

import "github.com/starling-grid/starling/server/setting"

// Rules are a project's limits on the work that hosts get. The names are the ones from BOINC's
// config.xml. 0 disables a limit.
type Rules struct {
	MaxWusToSend         int  `toml:"max_wus_to_send"`
	MaxWusInProgress     int  `toml:"max_wus_in_progress"`
	MaxWusInProgressGPU  int  `toml:"max_wus_in_progress_gpu"`
	DailyResultQuota     int  `toml:"daily_result_quota"`
	GPUMultiplier        int  `toml:"gpu_multiplier"` // 0: one
	MaxNCPUs             int  `toml:"max_ncpus"`
	IdleIgnoreDelayBound bool `toml:"idle_ignore_delay_bound"`
	AnonymousPlatform    bool `toml:"anonymous_platform"`

	Once
	Urgent
	PlanClasses map[string]PlanClass `toml:"plan_class"` // by name
}

// Once defines whether a volunteer, or a computer, gets at most one result of a workunit.
type Once struct {
	OneResultPerUserPerWU bool `toml:"one_result_per_user_per_wu"`
	OneResultPerHostPerWU bool `toml:"one_result_per_host_per_wu"`
}

// Keys describes the settings except Urgent.
func (r *Rules) Keys() []setting.Key {
	return []setting.Key{
		setting.Number(&r.DailyResultQuota, 100, 1e6,
			`Results that a computer may get each day, for each CPU. Each valid result raises a computer's quota by
			1, without an upper limit. Errors lower it below this number, down to 1.`).First(),
		setting.Number(&r.MaxWusToSend, 10, 1e5,
			`Maximum number of results in one reply, for each CPU.`),
		setting.Number(&r.MaxWusInProgress, 0, 1e6,
			`Maximum number of results for CPUs that a computer may have at a time, for each CPU.`).First(),
		setting.Number(&r.MaxWusInProgressGPU, 0, 1e6,
			`Maximum number of results for GPUs (or other coprocessors) of one kind that a computer may have at a
			time, for each device.`),
		setting.Number(&r.GPUMultiplier, 1, 1000,
			`Number of CPUs that a GPU counts as in max_wus_to_send and, for its results, in daily_result_quota.`),
		setting.Number(&r.MaxNCPUs, 64, 1e5,
			`Maximum number of CPUs of a computer that count for the limits for each CPU.`),
		setting.Of(&r.OneResultPerUserPerWU, false,
			`Whether a volunteer gets at most one result of a workunit. A result that failed with an app version
			that was withdrawn (version deprecate) does not count.`).First(),
		setting.Of(&r.OneResultPerHostPerWU, true,
			`Whether a computer gets at most one result of a workunit. Results of one computer that agree prove
			little.`),
		setting.Of(&r.IdleIgnoreDelayBound, false,
			`Whether a computer with an idle CPU or GPU gets one result for it even if the result would
			probably be late. Estimates can be wrong. BOINC's server always does this.`),
		setting.Of(&r.AnonymousPlatform, true,
			`Whether volunteers may compute with their own programs, which they list in an app_info.xml (BOINC's
			anonymous platform), instead of the project's. Their outputs are validated like all others.`),
	}
}

// OneResult reports whether a host gets at most one result of a workunit.
func (o Once) OneResult() bool { return o.OneResultPerUserPerWU || o.OneResultPerHostPerWU }
