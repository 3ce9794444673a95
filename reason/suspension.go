package reason

// The reasons for which tasks, GPUs or the network are not used. DiskFull is one of them, too.
const (
	ByUser        Code = "user_request"
	TimeOfDay     Code = "time_of_day"
	OnBattery     Code = "on_battery"
	UserActive    Code = "user_active"
	NoRecentInput Code = "no_recent_input"
	CPUBusy       Code = "cpu_busy"
	Exclusive     Code = "exclusive_app"
	ExclusiveGPU  Code = "exclusive_gpu_app"
	TooHot        Code = "too_hot"
	GPUTooHot     Code = "gpu_too_hot"
	PowerLimit    Code = "power_limit"
	XferLimit     Code = "transfer_limit"
	Metered       Code = "metered_network"
)
