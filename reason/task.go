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

// Tasks are the reasons about tasks with a fixed sentence.
var Tasks = []Entry{
	{Suspended, "You suspended this task.", "", "Resume it with: starling task resume {task}"},
	{SetAside, "Set aside: the agent crashed twice while this task was running.", "", "Run it again with: starling task resume {task}, or abort it with: starling task abort {task}"},
	{OneAtATime, "Another task of its project that needs little CPU time is running. These tasks run one at a time.", "", ""},
	{ReadyToReport, "Finished. It will be reported at the next contact.", "", "Report it now with: starling update {url}"},
	{GivenUp, "Abandoned: its deadline passed before it was started.", "", "If this happens often, set work_buf_min_days and work_buf_additional_days lower."},
	{Detached, "Its project is being {about}.", "Its project is being detached.", "Keep its tasks with: starling undo {url}"},
	{ComparingClocks, "Its deadline has passed by this computer's clock, which is first compared with the server's.", "", "Wait: this ends with the next contact. To contact the project now: starling update {url}"},
}
