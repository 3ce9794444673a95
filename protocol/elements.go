package protocol

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseElements reads a sequence of descriptions, the form in which a server stores them. Other
// elements are ignored.
func ParseElements(b []byte) (Elements, error) {
	var w bxml.Writer
	w.Grow(len(b) + 32)
	w.Block("elements", string(b))
	var e Elements
	if err := bxml.NewScanner(w.Bytes()).Decode("elements", e.elements); err != nil {
		return Elements{}, fmt.Errorf("elements: %w", err)
	}
	return e, nil
}

// XML returns the element in the form used in replies and databases.
func (a App) XML() string { return text("app", a.fields) }

// XML returns the element in the form used in replies and databases.
func (f FileInfo) XML() string { return text("file_info", f.fields) }

// XML returns the element in the form used in replies and databases.
func (v AppVersion) XML() string { return text("app_version", v.fields) }

// XML returns the element in the form used in replies and databases.
func (u Workunit) XML() string { return text("workunit", u.fields) }

// XML returns the element in the form used in replies and databases.
func (r Result) XML() string { return text("result", r.fields) }

func text(name string, fields func(bxml.Codec)) string {
	var w bxml.Writer
	w.Grow(512)
	w.Element(name, fields)
	return string(w.Bytes())
}

// elements reads or writes the five lists.
func (e *Elements) elements(x bxml.Codec) {
	each(x, "app", &e.Apps)
	each(x, "file_info", &e.Files)
	each(x.WriteIf(false), "file", &e.Files)
	each(x, "app_version", &e.AppVersions)
	eachFrom(x, "workunit", &e.Workunits, maxList, Workunit{
		RscFpopsEst: DefaultFpopsEst, RscFpopsBound: DefaultFpopsBound,
		RscMemoryBound: DefaultMemoryBound, RscDiskBound: DefaultDiskBound,
	})
	each(x, "result", &e.Results)
}

func (a *App) fields(x bxml.Codec) {
	x.Text("name", &a.Name)
	x.Line("user_friendly_name", &a.UserFriendlyName, maxText)
	x.Bool("non_cpu_intensive", &a.NonCPUIntensive)
	x.Bool("fraction_done_exact", &a.FractionDoneExact)
}

func (f *FileInfo) fields(x bxml.Codec) {
	opt, read := x.Optional(), x.WriteIf(false)
	x.Head("name", &f.Name, maxLong)
	f.addresses(x)
	size(opt, "gzipped_nbytes", &f.GzippedNBytes)
	size(opt, "nbytes", &f.NBytes)
	opt.Head("md5_cksum", &f.MD5, maxText)
	x.Flag("executable", &f.Executable)
	x.Key("file_signature", &f.Signature, maxKey)
	x.Flag("generated_locally", &f.GeneratedLocally)
	if w := x.Writing(); w != nil {
		w.Flag("upload_when_present", len(f.UploadURLs) > 0)
	}
	size(opt, "max_nbytes", &f.MaxNBytes)
	x.Key("xml_signature", &f.XMLSignature, maxKey)
	x.Flag("sticky", &f.Sticky)
	span(opt, "sticky_lifetime", &f.StickyLifetime)
	x.Flag("gzip_when_done", &f.GzipWhenDone)
	x.Flag("no_delete", &f.NoDelete)

	integer(read, "status", &f.Status)
	read.Flag("uploaded", &f.Uploaded)
	instant(read, "sticky_expire_time", &f.StickyUntil)
	if s := read.Reading("error_msg"); s != nil {
		f.ErrorMsg = bxml.Printable(s.Head(maxBlob), maxProse)
	}
}

// uploadMark in a plain <url> makes BOINC's clients upload to it. They derive the direction from
// the address alone.
const uploadMark = "file_upload_handler"

func uploads(url string) bool { return strings.Contains(url, uploadMark) }

func (f *FileInfo) addresses(x bxml.Codec) {
	if s := x.Reading("url"); s != nil {
		if u := s.Head(maxURL); uploads(u) {
			f.UploadURLs = appendURL(f.UploadURLs, u)
		} else {
			f.DownloadURLs = appendURL(f.DownloadURLs, u)
		}
	}
	if s := x.Reading("download_url"); s != nil {
		f.DownloadURLs = appendURL(f.DownloadURLs, s.Head(maxURL))
	}
	if s := x.Reading("upload_url"); s != nil {
		f.UploadURLs = appendURL(f.UploadURLs, s.Head(maxURL))
	}
	if s := x.Reading("gzipped_url"); s != nil {
		f.GzippedURLs = appendURL(f.GzippedURLs, s.Head(maxURL))
	}
	w := x.Writing()
	if w == nil {
		return
	}
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
}

func appendURL(list []string, u string) []string {
	if !validHTTP(u) || len(list) >= maxSchedulers {
		return list
	}
	return append(list, u)
}

func (r *FileRef) fields(x bxml.Codec) {
	x.Text("file_name", &r.FileName)
	x.Optional().Text("open_name", &r.OpenName)
	x.Flag("main_program", &r.MainProgram)
	x.Flag("copy_file", &r.CopyFile)
	x.Flag("optional", &r.Optional)
	x.Flag("no_validate", &r.NoValidate)
}

func (v *AppVersion) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Head("app_name", &v.AppName, maxLong)
	integer(x, "version_num", &v.VersionNum)
	opt.Head("platform", &v.Platform, maxLong)
	opt.Head("plan_class", &v.PlanClass, maxLong)
	opt.Head("api_version", &v.APIVersion, maxLong)
	bounded(opt, "avg_ncpus", &v.AvgNCPUs, maxCPUs)
	opt.Float("flops", &v.Flops)
	x.WriteIf(v.Coproc != "").Element("coproc", v.coproc)
	bounded(opt, "gpu_ram", &v.GPURAM, maxBytes)
	opt.Head("cmdline", &v.Cmdline, maxBlob)
	x.Flag("is_wrapper", &v.IsWrapper)
	x.Flag("dont_throttle", &v.DontThrottle)
	x.Flag("needs_network", &v.NeedsNetwork)
	each(x, "file_ref", &v.FileRefs)
}

func (v *AppVersion) coproc(x bxml.Codec) {
	x.Head("type", &v.Coproc, maxText)
	if x.Reading("type") != nil && v.Coproc == "CUDA" {
		v.Coproc = nvidia // the name in old servers' replies
	}
	bounded(x, "count", &v.CoprocCount, maxDevices)
}

func (u *Workunit) fields(x bxml.Codec) {
	x.Text("name", &u.Name)
	x.Text("app_name", &u.AppName)
	bounded(x, "rsc_fpops_est", &u.RscFpopsEst, maxFpops)
	bounded(x, "rsc_fpops_bound", &u.RscFpopsBound, maxFpops)
	bounded(x, "rsc_memory_bound", &u.RscMemoryBound, maxBytes)
	bounded(x, "rsc_disk_bound", &u.RscDiskBound, maxBytes)
	x.Optional().Text("command_line", &u.CommandLine)
	each(x, "file_ref", &u.FileRefs)
}

func (r *Result) fields(x bxml.Codec) {
	opt := x.Optional()
	x.Text("name", &r.Name)
	x.Text("wu_name", &r.WorkunitName)
	date(x.WriteIf(!r.ReportDeadline.IsZero()), "report_deadline", &r.ReportDeadline)
	opt.Text("platform", &r.Platform)
	integer(opt, "version_num", &r.VersionNum)
	x.Text("plan_class", &r.PlanClass)
	each(x, "file_ref", &r.FileRefs)
	x.Flag("report_immediately", &r.ReportImmediately)
}
