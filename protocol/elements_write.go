package protocol

import (
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// uploadMark in a plain <url> makes BOINC's clients upload to it.
const uploadMark = "file_upload_handler"

func uploads(url string) bool { return strings.Contains(url, uploadMark) }

// XML returns the element in the form used in replies and databases.
func (a App) XML() string { return text(a.write) }

// XML returns the element in the form used in replies and databases.
func (f FileInfo) XML() string { return text(f.write) }

// XML returns the element in the form used in replies and databases.
func (v AppVersion) XML() string { return text(v.write) }

// XML returns the element in the form used in replies and databases.
func (u Workunit) XML() string { return text(u.write) }

// XML returns the element in the form used in replies and databases.
func (r Result) XML() string { return text(r.write) }

func text(write func(*bxml.Writer)) string {
	var w bxml.Writer
	write(&w)
	return string(w.Bytes())
}

func (e *Elements) write(w *bxml.Writer) {
	for _, v := range e.Apps {
		v.write(w)
	}
	for _, v := range e.Files {
		v.write(w)
	}
	for _, v := range e.AppVersions {
		v.write(w)
	}
	for _, v := range e.Workunits {
		v.write(w)
	}
	for _, v := range e.Results {
		v.write(w)
	}
}

func (a App) write(w *bxml.Writer) {
	w.Open("app")
	w.Text("name", a.Name)
	w.Text("user_friendly_name", a.UserFriendlyName)
	w.Bool("non_cpu_intensive", a.NonCPUIntensive)
	w.Bool("fraction_done_exact", a.FractionDoneExact)
	w.Close("app")
}

func (f FileInfo) write(w *bxml.Writer) {
	w.Open("file_info")
	w.Text("name", f.Name)
	for _, u := range f.DownloadURLs {
		w.Text("url", u)
	}
	for _, u := range f.UploadURLs {
		if uploads(u) {
			w.Text("url", u)
		} else {
			w.Text("upload_url", u)
		}
	}
	for _, u := range f.GzippedURLs {
		w.Text("gzipped_url", u)
	}
	if f.GzippedNBytes > 0 {
		w.Int("gzipped_nbytes", f.GzippedNBytes)
	}
	if f.NBytes > 0 {
		w.Int("nbytes", f.NBytes)
	}
	w.TextIf("md5_cksum", f.MD5)
	w.Flag("executable", f.Executable)
	if f.Signature != "" {
		w.Block("file_signature", strings.TrimSpace(f.Signature))
	}
	w.Flag("generated_locally", f.GeneratedLocally)
	if len(f.UploadURLs) > 0 {
		w.Empty("upload_when_present")
	}
	if f.MaxNBytes > 0 {
		w.Int("max_nbytes", f.MaxNBytes)
	}
	if f.XMLSignature != "" {
		w.Block("xml_signature", strings.TrimSpace(f.XMLSignature))
	}
	w.Flag("sticky", f.Sticky)
	if f.StickyLifetime > 0 {
		w.Float("sticky_lifetime", f.StickyLifetime.Seconds())
	}
	w.Flag("gzip_when_done", f.GzipWhenDone)
	w.Flag("no_delete", f.NoDelete)
	w.Close("file_info")
}

func (r FileRef) write(w *bxml.Writer) {
	w.Open("file_ref")
	w.Text("file_name", r.FileName)
	w.TextIf("open_name", r.OpenName)
	w.Flag("main_program", r.MainProgram)
	w.Flag("copy_file", r.CopyFile)
	w.Flag("optional", r.Optional)
	w.Flag("no_validate", r.NoValidate)
	w.Close("file_ref")
}

func (v AppVersion) write(w *bxml.Writer) {
	w.Open("app_version")
	w.Text("app_name", v.AppName)
	w.Int("version_num", int64(v.VersionNum))
	w.TextIf("platform", v.Platform)
	w.TextIf("plan_class", v.PlanClass)
	w.TextIf("api_version", v.APIVersion)
	if v.AvgNCPUs > 0 {
		w.Float("avg_ncpus", v.AvgNCPUs)
	}
	if v.Flops > 0 {
		w.Float("flops", v.Flops)
	}
	if v.Coproc != "" {
		w.Open("coproc")
		w.Text("type", v.Coproc)
		w.Float("count", v.CoprocCount)
		w.Close("coproc")
	}
	if v.GPURAM > 0 {
		w.Float("gpu_ram", v.GPURAM)
	}
	w.TextIf("cmdline", v.Cmdline)
	w.Flag("is_wrapper", v.IsWrapper)
	w.Flag("dont_throttle", v.DontThrottle)
	w.Flag("needs_network", v.NeedsNetwork)
	for _, r := range v.FileRefs {
		r.write(w)
	}
	w.Close("app_version")
}

func (u Workunit) write(w *bxml.Writer) {
	w.Open("workunit")
	w.Text("name", u.Name)
	w.Text("app_name", u.AppName)
	w.Float("rsc_fpops_est", u.RscFpopsEst)
	w.Float("rsc_fpops_bound", u.RscFpopsBound)
	w.Float("rsc_memory_bound", u.RscMemoryBound)
	w.Float("rsc_disk_bound", u.RscDiskBound)
	w.TextIf("command_line", u.CommandLine)
	for _, r := range u.FileRefs {
		r.write(w)
	}
	w.Close("workunit")
}

func (r Result) write(w *bxml.Writer) {
	w.Open("result")
	w.Text("name", r.Name)
	w.Text("wu_name", r.WorkunitName)
	if !r.ReportDeadline.IsZero() {
		w.Int("report_deadline", r.ReportDeadline.Unix())
	}
	w.TextIf("platform", r.Platform)
	if r.VersionNum > 0 {
		w.Int("version_num", int64(r.VersionNum))
	}
	w.Text("plan_class", r.PlanClass)
	for _, ref := range r.FileRefs {
		ref.write(w)
	}
	w.Flag("report_immediately", r.ReportImmediately)
	w.Close("result")
}
