package reason

// The reasons for which a task runs, or does not.
const (
	RunDebt         Code = "run"          // its project is owed most
	RunDeadline     Code = "run_deadline" // its deadline is in danger
	NoCPU           Code = "no_cpu_free"
	NoMemory        Code = "no_memory_free"
	NoGPU           Code = "no_gpu_free"
	GPUMissing      Code = "gpu_missing"
	Limited         Code = "max_concurrent"
	OneAtATime      Code = "one_at_a_time" // another of its project's that need little CPU time runs
	Postponed       Code = "postponed"
	Suspended       Code = "suspended"
	SetAside        Code = "set_aside"
	NoNetwork       Code = "network_needed"
	WaitsForFiles   Code = "waits_for_files"
	SendsFiles      Code = "sends_files"
	ReadyToReport   Code = "ready_to_report"
	GivenUp         Code = "not_started_by_its_deadline"
	Detached        Code = "project_is_detached"
	ComparingClocks Code = "comparing_clocks" // it may be past its deadline
)
