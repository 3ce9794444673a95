package protocol

import (
	"fmt"

	"github.com/starling-grid/starling/protocol/bxml"
)

// ParseElements reads a sequence of descriptions, the form in which a server stores them. Other
// elements are ignored.
func ParseElements(b []byte) (Elements, error) {
	var w bxml.Writer
	w.Block("elements", string(b))
	s := bxml.NewScanner(w.Bytes())
	if err := s.Find("elements"); err != nil {
		return Elements{}, err
	}
	var e Elements
	for name := range s.Children() {
		e.scan(s, name)
	}
	if err := s.Err(); err != nil {
		return Elements{}, fmt.Errorf("elements: %w", err)
	}
	return e, nil
}

// scan reads the current element if it is one of the five kinds.
func (e *Elements) scan(s *bxml.Scanner, name string) bool {
	switch name {
	case "app":
		e.Apps = appendTo(e.Apps, scanApp(s))
	case "file_info", "file":
		e.Files = appendTo(e.Files, scanFileInfo(s))
	case "app_version":
		e.AppVersions = appendTo(e.AppVersions, scanAppVersion(s))
	case "workunit":
		e.Workunits = appendTo(e.Workunits, scanWorkunit(s))
	case "result":
		e.Results = appendTo(e.Results, scanResult(s))
	default:
		return false
	}
	return true
}

func appendTo[T any](list []T, v T) []T {
	if len(list) >= maxList {
		return list
	}
	return append(list, v)
}

func scanApp(s *bxml.Scanner) (a App) {
	for name := range s.Children() {
		switch name {
		case "name":
			a.Name = s.Text()
		case "user_friendly_name":
			a.UserFriendlyName = s.Line(maxText)
		case "non_cpu_intensive":
			a.NonCPUIntensive = s.Flag()
		case "fraction_done_exact":
			a.FractionDoneExact = s.Flag()
		}
	}
	return a
}

func scanFileInfo(s *bxml.Scanner) (f FileInfo) {
	for name := range s.Children() {
		switch name {
		case "name":
			f.Name = s.Head(maxLong)
		case "url":
			// BOINC's clients derive the direction from the address alone.
			if u := s.Head(maxURL); uploads(u) {
				f.UploadURLs = appendURL(f.UploadURLs, u)
			} else {
				f.DownloadURLs = appendURL(f.DownloadURLs, u)
			}
		case "download_url":
			f.DownloadURLs = appendURL(f.DownloadURLs, s.Head(maxURL))
		case "upload_url":
			f.UploadURLs = appendURL(f.UploadURLs, s.Head(maxURL))
		case "gzipped_url":
			f.GzippedURLs = appendURL(f.GzippedURLs, s.Head(maxURL))
		case "nbytes":
			scanBytes(s, &f.NBytes)
		case "gzipped_nbytes":
			scanBytes(s, &f.GzippedNBytes)
		case "md5_cksum":
			f.MD5 = s.Head(maxText)
		case "executable":
			f.Executable = s.Flag()
		case "file_signature":
			f.Signature = s.RawHead(maxKey)
		case "xml_signature":
			f.XMLSignature = s.RawHead(maxKey)
		case "max_nbytes":
			scanBytes(s, &f.MaxNBytes)
		case "generated_locally":
			f.GeneratedLocally = s.Flag()
		case "sticky":
			f.Sticky = s.Flag()
		case "sticky_lifetime":
			scanSpan(s, &f.StickyLifetime)
		case "gzip_when_done":
			f.GzipWhenDone = s.Flag()
		case "no_delete":
			f.NoDelete = s.Flag()
		case "status":
			scanInt(s, &f.Status)
		case "error_msg":
			f.ErrorMsg = bxml.Printable(s.Head(maxBlob), maxProse)
		case "uploaded":
			f.Uploaded = s.Flag()
		case "sticky_expire_time":
			scanTime(s, &f.StickyUntil)
		}
	}
	return f
}

func appendURL(list []string, u string) []string {
	if !validHTTP(u) || len(list) >= maxSchedulers {
		return list
	}
	return append(list, u)
}

func scanFileRef(s *bxml.Scanner) (r FileRef) {
	for name := range s.Children() {
		switch name {
		case "file_name":
			r.FileName = s.Text()
		case "open_name":
			r.OpenName = s.Text()
		case "main_program":
			r.MainProgram = s.Flag()
		case "copy_file":
			r.CopyFile = s.Flag()
		case "optional":
			r.Optional = s.Flag()
		case "no_validate":
			r.NoValidate = s.Flag()
		}
	}
	return r
}

func scanAppVersion(s *bxml.Scanner) (v AppVersion) {
	for name := range s.Children() {
		switch name {
		case "app_name":
			v.AppName = s.Head(maxLong)
		case "version_num":
			scanInt(s, &v.VersionNum)
		case "platform":
			v.Platform = s.Head(maxLong)
		case "plan_class":
			v.PlanClass = s.Head(maxLong)
		case "api_version":
			v.APIVersion = s.Head(maxLong)
		case "avg_ncpus":
			s.Float(&v.AvgNCPUs)
			v.AvgNCPUs = max(0, min(v.AvgNCPUs, maxCPUs))
		case "flops":
			s.Float(&v.Flops)
		case "cmdline":
			v.Cmdline = s.Head(maxBlob)
		case "is_wrapper":
			v.IsWrapper = s.Flag()
		case "dont_throttle":
			v.DontThrottle = s.Flag()
		case "needs_network":
			v.NeedsNetwork = s.Flag()
		case "coproc":
			for name := range s.Children() {
				switch name {
				case "type":
					v.Coproc = coprocName(s.Head(maxText))
				case "count":
					s.Float(&v.CoprocCount)
					v.CoprocCount = max(0, min(v.CoprocCount, 1024))
				}
			}
		case "gpu_ram":
			s.Float(&v.GPURAM)
			v.GPURAM = max(0, min(v.GPURAM, maxBytes))
		case "file_ref":
			v.FileRefs = appendTo(v.FileRefs, scanFileRef(s))
		}
	}
	return v
}

// coprocName returns the kind of coprocessor that an app version names. Old servers write CUDA.
func coprocName(name string) string {
	if name == "CUDA" {
		return nvidia
	}
	return name
}

func scanWorkunit(s *bxml.Scanner) Workunit {
	u := Workunit{
		RscFpopsEst: DefaultFpopsEst, RscFpopsBound: DefaultFpopsBound,
		RscMemoryBound: DefaultMemoryBound, RscDiskBound: DefaultDiskBound,
	}
	for name := range s.Children() {
		switch name {
		case "name":
			u.Name = s.Text()
		case "app_name":
			u.AppName = s.Text()
		case "command_line":
			u.CommandLine = s.Text()
		case "rsc_fpops_est":
			s.Float(&u.RscFpopsEst)
		case "rsc_fpops_bound":
			s.Float(&u.RscFpopsBound)
		case "rsc_memory_bound":
			s.Float(&u.RscMemoryBound)
		case "rsc_disk_bound":
			s.Float(&u.RscDiskBound)
		case "file_ref":
			u.FileRefs = appendTo(u.FileRefs, scanFileRef(s))
		}
	}
	for v, most := range map[*float64]float64{
		&u.RscFpopsEst: maxFpops, &u.RscFpopsBound: maxFpops, &u.RscMemoryBound: maxBytes, &u.RscDiskBound: maxBytes,
	} {
		*v = max(0, min(*v, most))
	}
	return u
}

func scanResult(s *bxml.Scanner) (r Result) {
	for name := range s.Children() {
		r.scan(s, name)
	}
	return r
}

// scan reads one element of a result.
func (r *Result) scan(s *bxml.Scanner, name string) {
	switch name {
	case "name":
		r.Name = s.Text()
	case "wu_name":
		r.WorkunitName = s.Text()
	case "report_deadline":
		scanTime(s, &r.ReportDeadline)
	case "platform":
		r.Platform = s.Text()
	case "version_num":
		scanInt(s, &r.VersionNum)
	case "plan_class":
		r.PlanClass = s.Text()
	case "report_immediately":
		r.ReportImmediately = s.Flag()
	case "file_ref":
		r.FileRefs = appendTo(r.FileRefs, scanFileRef(s))
	}
}
