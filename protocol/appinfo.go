package protocol

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/starling-grid/starling/protocol/bxml"
)

// AppInfoFile is a file in a project's folder with which volunteers make a client compute with
// their own programs: BOINC's anonymous platform.
const AppInfoFile = "app_info.xml"

// An AppInfo is the content of an AppInfoFile.
type AppInfo struct {
	Apps     []Lined[App]
	Files    []Lined[FileInfo]
	Versions []Lined[AppVersion]
}

// Lined is a part of a file that people edit, with the line, counted from 1, where it starts.
type Lined[T any] struct {
	Value T
	Line  int
}

// A LineError describes an error in a line of such a file, and how to fix it.
type LineError struct {
	Line int
	Text string
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Text) }

// ParseAppInfo reads an AppInfoFile. Like BOINC's client, it ignores unknown elements. An error
// means that the file as a whole cannot be used.
//
// Source: BOINC client/cs_statefile.cpp, CLIENT_STATE::parse_app_info.
func ParseAppInfo(b []byte) (info AppInfo, err error) {
	s := bxml.NewScanner(b).Foreign()
	line := func() int { return 1 + bytes.Count(b[:s.Offset()], []byte("\n")) }
	if s.Find("app_info") != nil {
		return info, &LineError{1, "there is no <app_info>; write the description between <app_info> and </app_info>"}
	}
	first := line()
	for name := range s.Children() {
		at := line()
		switch name {
		case "app":
			info.Apps = appendTo(info.Apps, Lined[App]{scanned[App](s), at})
		case "file_info", "file":
			info.Files = appendTo(info.Files, Lined[FileInfo]{scanned[FileInfo](s), at})
		case "app_version":
			info.Versions = appendTo(info.Versions, Lined[AppVersion]{scanned[AppVersion](s), at})
		}
		if s.Err() != nil {
			return AppInfo{}, &LineError{at, fmt.Sprintf("<%s> is not closed; close it with </%s>", name, name)}
		}
	}
	if s.Err() != nil {
		return AppInfo{}, &LineError{first, "<app_info> is not closed; end the file with </app_info>"}
	}
	return info, nil
}

// Usable returns the parts that can be used, and the errors in the others, in the order of the
// lines. platform is the default for versions without a platform. look returns the reason why a
// described file cannot be used, and how to fix it, or "".
//
// Parts that BOINC's client ignores are ignored here as well: a file with an address, a version of
// an application or with a file that is not described, and a second description of the same thing.
// One rule is different: a version needs exactly one main program, because without it no task can
// start.
func (a AppInfo) Usable(platform string, look func(*FileInfo) string) (usable AppInfo, errs []*LineError) {
	bad := func(line int, format string, args ...any) {
		errs = append(errs, &LineError{line, fmt.Sprintf(format, args...)})
	}
	files := make(map[string]bool) // the described files and whether they are usable
	for _, f := range a.Files {
		name := f.Value.Name
		_, twice := files[name]
		if !twice {
			files[name] = false
		}
		switch err := ValidFileName(name); {
		case err != nil:
			bad(f.Line, "a file needs a usable <name>: %v", err)
		case len(f.Value.DownloadURLs)+len(f.Value.UploadURLs)+len(f.Value.GzippedURLs) > 0:
			bad(f.Line, "file %s has an address; remove it, since your own files are never transferred", name)
		case twice:
			bad(f.Line, "file %s is described twice; remove one of the descriptions", name)
		default:
			if why := look(&f.Value); why != "" {
				bad(f.Line, "file %s %s", name, why)
				continue
			}
			files[name] = true
			usable.Files = append(usable.Files, f)
		}
	}
	apps := make(map[string]bool)
	for _, p := range a.Apps {
		switch name := p.Value.Name; {
		case name == "":
			bad(p.Line, "an application has no <name>; write the project's name of it")
		case apps[name]:
			bad(p.Line, "application %s is described twice; remove one of the descriptions", name)
		default:
			apps[name] = true
			usable.Apps = append(usable.Apps, p)
		}
	}
	for _, v := range a.Versions {
		if v.Value.Platform == "" {
			v.Value.Platform = platform
		}
		if why := versionFault(v.Value, apps, files); why != "" {
			bad(v.Line, "%s", why)
			continue
		}
		if slices.ContainsFunc(v.Value.FileRefs, func(r FileRef) bool { return !files[r.FileName] }) {
			continue // the error in its file has been reported
		}
		if slices.ContainsFunc(usable.Versions, func(o Lined[AppVersion]) bool { return sameVersion(o.Value, v.Value) }) {
			bad(v.Line, "version %d of %s is described twice; remove one of them, or give it another <version_num> or <plan_class>", v.Value.VersionNum, v.Value.AppName)
			continue
		}
		usable.Versions = append(usable.Versions, v)
	}
	slices.SortStableFunc(errs, func(x, y *LineError) int { return x.Line - y.Line })
	if len(a.Versions) == 0 {
		bad(1, "there is no <app_version>; describe a version, or remove the file to use the project's programs")
	}
	return usable, errs
}

func sameVersion(a, b AppVersion) bool {
	return a.AppName == b.AppName && a.Platform == b.Platform && a.VersionNum == b.VersionNum && a.PlanClass == b.PlanClass
}

// versionFault returns the reason why a version cannot be used, or "".
func versionFault(v AppVersion, apps, files map[string]bool) string {
	if !apps[v.AppName] {
		return fmt.Sprintf("a version is of application %q, which is not described; add <app><name>…</name></app> for it", v.AppName)
	}
	programs, logical := 0, make(map[string]bool)
	for _, ref := range v.FileRefs {
		if _, described := files[ref.FileName]; !described {
			return fmt.Sprintf("a version of %s uses file %q, which has no <file_info>; add one with this <name>", v.AppName, ref.FileName)
		}
		if err := ValidFileName(ref.Logical()); err != nil {
			return fmt.Sprintf("a version of %s: <open_name> of file %s: %v", v.AppName, ref.FileName, err)
		}
		if logical[ref.Logical()] {
			return fmt.Sprintf("a version of %s has two files named %s; give one of them another <open_name>", v.AppName, ref.Logical())
		}
		logical[ref.Logical()] = true
		if ref.MainProgram {
			programs++
		}
	}
	switch {
	case programs == 0:
		return fmt.Sprintf("a version of %s has no program; write <main_program/> into the <file_ref> of its program", v.AppName)
	case programs > 1:
		return fmt.Sprintf("a version of %s has %d programs; leave <main_program/> in the <file_ref> of one", v.AppName, programs)
	}
	return ""
}
