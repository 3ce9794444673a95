package reason

// The obstacles to a file or to the start of a task. The first group is in this computer. The second
// is in the file or task, or in the server that was asked for it. Trouble between this computer and
// a server is an obstacle, too.
const (
	DiskFull         Code = "disk_full"
	DiskFails        Code = "disk_error"
	NotAllowed       Code = "files_not_accessible"
	NoProcess        Code = "no_room_for_processes"
	FileGone         Code = "file_gone"
	StartFails       Code = "start_failed"
	NoImages         Code = "images_unavailable"
	ImageTooLarge    Code = "image_too_large"
	DriverIncomplete Code = "driver_incomplete"
	NoAddress        Code = "no_address"
	NotOnServer      Code = "not_on_server"
	NoUploads        Code = "upload_address_wrong"
	Differs          Code = "differs_from_announced"
	NotSigned        Code = "no_valid_signature"
	Stalled          Code = "stalled"
	UploadRefused    Code = "refused_by_server"
	Canceled         Code = "canceled"
	TransferFails    Code = "transfer_failed"
	ApplicationWaits Code = "application_waits"
)

const (
	retries = "The agent will try again."
	waits   = "Wait: the agent will try again."
)

// Obstacles are the obstacles other than trouble with a server.
var Obstacles = []Entry{
	{DiskFull, "This computer's disk is full.", "", "Free some disk space. " + retries},
	{DiskFails, "This computer's disk reports an error.", "", "Check the disk: the system's log names the error (on Linux: sudo dmesg). " + retries},
	{NotAllowed, "The agent may not read or write its own files.", "", "Run starling doctor: it names the folder. Make the agent's user its owner, and check that it is neither mounted read-only nor immutable (on Linux: lsattr -d). " + retries},
	{NoProcess, "The system has no room for another process.", "", "End other programs, or raise the limit on processes. " + retries},
	{FileGone, "The file is no longer on this computer.", "", "Find out what removes files from the data directory, such as a virus scanner or a clean-up program, and exempt the directory."},
	{NoImages, "Container images cannot run on this computer now.", "", "Find the reason with: starling doctor. " + retries},
	{ImageTooLarge, "The task's container image needs {about} of disk space, more than the preferences allow now.", "The task's container image needs more disk space than the preferences allow now.", "Free some disk space, or allow more in the preferences. " + retries},
	{DriverIncomplete, "The GPU's driver has no {about}, which tasks in container images need.", "The GPU's driver lacks a file that tasks in container images need.", "If the driver was updated, restart the computer. If the agent runs in a container, give the container the GPU. Otherwise install the driver's libraries again. " + retries},
	{StartFails, "The task could not be started.", "", "Run starling doctor, and see starling log for the error. " + retries},

	{NoAddress, "The project gave no address for the file.", "", "The project's operators must fix this."},
	{NotOnServer, "The file is not on the project's server ({about}).", "The file is not on the project's server.", "The project's operators must fix this."},
	{NoUploads, "The address to upload to leads nowhere ({about}).", "The address to upload to leads nowhere.", "If it lasts for days, inform the project. " + retries},
	{Differs, "What arrived differs from what the project announced.", "", "If a proxy or a virus scanner changes downloads, exempt the project's server. Otherwise the project's operators must fix this."},
	{NotSigned, "The program has no valid signature of the project, so it is not used.", "", "Keep it so: only programs signed by the project are run. Inform the project."},
	{Stalled, "The transfer stalled: hardly any data moved for 5 minutes.", "", waits},
	{UploadRefused, "The project's server did not take the file. It says: {about}.", "The project's server did not take the file.", "If it lasts for days, inform the project. " + retries},
	{Canceled, "You canceled the transfer.", "", "Nothing is wrong with this computer."},
	{TransferFails, "The transfer failed.", "", waits},

	{ApplicationWaits, "The application asked to be continued later: {about}.", "The application asked to be continued later.", ""},
}

// InImages reports whether it is an obstacle that this computer has for tasks in container images only, and
// usually until a person removes it.
func (r Reason) InImages() bool { return r.Code == NoImages || r.Code == DriverIncomplete }

// OfFile returns the obstacle to a file that results from trouble with a server.
func (r Reason) OfFile() Reason {
	switch r.Code {
	case ContactFailed:
		return Reason{Code: TransferFails}
	case NotFound, Closed:
		return Reason{Code: NotOnServer, About: r.About}
	}
	return Reason{Code: r.Code, About: r.About}
}
