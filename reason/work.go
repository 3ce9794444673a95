package reason

// The reasons for which work is requested of a project, or not.
const (
	Ask              Code = "ask"
	BufferFull       Code = "buffer_full"
	OtherFirst       Code = "other_project_first"
	Overserved       Code = "got_more_than_its_share"
	Deadlines        Code = "deadlines_in_danger"
	Unproved         Code = "estimates_unproved"
	FirstWaits       Code = "first_task_waits"
	Stuck            Code = "tasks_cannot_begin"
	TooManyTasks     Code = "too_many_tasks"
	HasTask          Code = "has_its_task"
	NoMoreWork       Code = "no_more_work"
	ProjectSuspended Code = "project_suspended"
	NoCPUApps        Code = "no_cpu_apps"
	NoGPUApps        Code = "no_gpu_apps"
	GPUExcluded      Code = "gpu_excluded"
	UploadBacklog    Code = "upload_backlog"
	UploadFirst      Code = "upload_under_way"
	RequestDelay     Code = "request_delay"
	NoWorkBackoff    Code = "no_work_backoff"
	TasksFail        Code = "tasks_fail"
	NetworkSuspended Code = "network_suspended"
	Conversing       Code = "session_under_way"
)

// The reasons for requests and for tasks alike.
const (
	GPUSuspended       Code = "gpu_suspended"
	ComputingSuspended Code = "computing_suspended"
	Draining           Code = "draining"
)
