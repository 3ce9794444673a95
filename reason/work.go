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

// Elsewhere is the remedy if a project cannot keep this computer busy.
const Elsewhere = "To keep the computer busy, attach to another project: starling attach"

// Requests are the reasons about work with a fixed sentence.
var Requests = []Entry{
	{ProjectSuspended, "You suspended the project.", "", "Resume it with: starling resume {url}"},
	{NoMoreWork, "This project is set to fetch no more work.", "", "Allow it with: starling allowmorework {url}"},
	{HasTask, "Its task is here. Its tasks need little CPU time, so one at a time runs in addition to those of other projects.", "", ""},
	{UploadFirst, "A result is being uploaded. The next request will report it.", "", ""},
	{Unproved, "Learning how long this project's tasks really take. More is fetched once one of them is finished or a tenth done.", "", "Wait: this will end without your help."},
	{NoCPUApps, "The project says it has no applications for this computer's CPU.", "", Elsewhere},
	{NoGPUApps, "The project says it has no applications for this computer's {kind}.", "", Elsewhere},
	{GPUExcluded, "Its account file keeps its tasks off every {kind} (exclude_gpu).", "", "To let them use it, remove exclude_gpu from the account file."},
}
