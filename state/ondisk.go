package state

import (
	"encoding/json"
	"time"

	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// Types of other packages that records contain have a separate form on disk, so that those packages
// may rename their fields. Each form has the fields of its original, in the same order. A
// conversion between them does not compile if one has a field that the other lacks.

// A form is a record in the form in which it is stored.
type form[V any] interface {
	record() V
}

// formed returns a table whose records are stored in a separate form.
func formed[V any, F form[V]](bucket string, of func(V) F) Table[V] {
	return Table[V]{
		bucket: bucket,
		encode: func(v V) ([]byte, error) { return json.Marshal(of(v)) },
		decode: func(data []byte) (v V, err error) {
			var f F
			err = json.Unmarshal(data, &f)
			return f.record(), err
		},
	}
}

// plain returns a table whose records are stored as they are.
func plain[V any](bucket string) Table[V] {
	return Table[V]{
		bucket: bucket,
		encode: func(v V) ([]byte, error) { return json.Marshal(v) },
		decode: func(data []byte) (v V, err error) { return v, json.Unmarshal(data, &v) },
	}
}

type mode struct {
	Kind  prefs.ModeKind `json:"kind,omitzero"`
	Until time.Time      `json:"until,omitzero"`
}

type hostForm struct {
	Host
	RunMode mode `json:"run_mode,omitzero"`
	NetMode mode `json:"net_mode,omitzero"`
	GPUMode mode `json:"gpu_mode,omitzero"`
}

func formOfHost(h Host) hostForm {
	return hostForm{h, mode(h.RunMode), mode(h.NetMode), mode(h.GPUMode)}
}

func (f hostForm) record() Host {
	h := f.Host
	h.RunMode, h.NetMode, h.GPUMode = prefs.Mode(f.RunMode), prefs.Mode(f.NetMode), prefs.Mode(f.GPUMode)
	return h
}

type fileInfo struct {
	Name          string   `json:"name,omitzero"`
	DownloadURLs  []string `json:"download_urls,omitzero"`
	UploadURLs    []string `json:"upload_urls,omitzero"`
	GzippedURLs   []string `json:"gzipped_urls,omitzero"`
	NBytes        int64    `json:"nbytes,omitzero"`
	GzippedNBytes int64    `json:"gzipped_nbytes,omitzero"`
	MD5           string   `json:"md5,omitzero"`
	Executable    bool     `json:"executable,omitzero"`
	Signature     string   `json:"signature,omitzero"`
	MaxNBytes     int64    `json:"max_nbytes,omitzero"`
	XMLSignature  string   `json:"xml_signature,omitzero"`

	GeneratedLocally bool          `json:"generated_locally,omitzero"`
	Sticky           bool          `json:"sticky,omitzero"`
	StickyLifetime   time.Duration `json:"sticky_lifetime,omitzero"`
	GzipWhenDone     bool          `json:"gzip_when_done,omitzero"`
	NoDelete         bool          `json:"no_delete,omitzero"`

	Status   int    `json:"status,omitzero"`
	ErrorMsg string `json:"error_msg,omitzero"`
	Uploaded bool   `json:"uploaded,omitzero"`

	StickyUntil time.Time `json:"sticky_until,omitzero"`
}

type fileForm struct {
	File
	fileInfo
}

func formOfFile(f File) fileForm { return fileForm{f, fileInfo(f.FileInfo)} }

func (f fileForm) record() File {
	f.FileInfo = protocol.FileInfo(f.fileInfo)
	return f.File
}

type app struct {
	Name              string `json:"name,omitzero"`
	UserFriendlyName  string `json:"user_friendly_name,omitzero"`
	NonCPUIntensive   bool   `json:"non_cpu_intensive,omitzero"`
	FractionDoneExact bool   `json:"fraction_done_exact,omitzero"`
}

type appForm struct {
	Project string `json:"project,omitzero"`
	app
}

func formOfApp(a App) appForm { return appForm{a.Project, app(a.App)} }

func (f appForm) record() App { return App{f.Project, protocol.App(f.app)} }

type fileRef struct {
	FileName    string `json:"file_name,omitzero"`
	OpenName    string `json:"open_name,omitzero"`
	MainProgram bool   `json:"main_program,omitzero"`
	CopyFile    bool   `json:"copy_file,omitzero"`
	Optional    bool   `json:"optional,omitzero"`
	NoValidate  bool   `json:"no_validate,omitzero"`
}

// refs are stored outside of the types that contain them, so that those can be converted as a
// whole.
type refs []fileRef

func formOfRefs(list []protocol.FileRef) refs {
	if list == nil {
		return nil
	}
	out := make(refs, len(list))
	for i, r := range list {
		out[i] = fileRef(r)
	}
	return out
}

func (list refs) refs() []protocol.FileRef {
	if list == nil {
		return nil
	}
	out := make([]protocol.FileRef, len(list))
	for i, r := range list {
		out[i] = protocol.FileRef(r)
	}
	return out
}

type appVersion struct {
	AppName    string             `json:"app_name,omitzero"`
	VersionNum int                `json:"version_num,omitzero"`
	Platform   string             `json:"platform,omitzero"`
	PlanClass  string             `json:"plan_class,omitzero"`
	APIVersion string             `json:"api_version,omitzero"`
	AvgNCPUs   float64            `json:"avg_ncpus,omitzero"`
	Flops      float64            `json:"flops,omitzero"`
	Cmdline    string             `json:"cmdline,omitzero"`
	FileRefs   []protocol.FileRef `json:"-"`
	IsWrapper  bool               `json:"is_wrapper,omitzero"`
	Coproc     string             `json:"coproc,omitzero"`

	CoprocCount float64 `json:"coproc_count,omitzero"`
	GPURAM      float64 `json:"gpu_ram,omitzero"`

	DontThrottle bool `json:"dont_throttle,omitzero"`
	NeedsNetwork bool `json:"needs_network,omitzero"`
}

type versionForm struct {
	Project string `json:"project,omitzero"`
	appVersion
	Refs      refs      `json:"file_refs,omitzero"`
	Estimates Estimates `json:"estimates,omitzero"`
}

func formOfVersion(v AppVersion) versionForm {
	return versionForm{v.Project, appVersion(v.AppVersion), formOfRefs(v.FileRefs), v.Estimates}
}

func (f versionForm) record() AppVersion {
	f.FileRefs = f.Refs.refs()
	return AppVersion{f.Project, protocol.AppVersion(f.appVersion), f.Estimates}
}

type workunit struct {
	Name           string             `json:"name,omitzero"`
	AppName        string             `json:"app_name,omitzero"`
	CommandLine    string             `json:"command_line,omitzero"`
	RscFpopsEst    float64            `json:"rsc_fpops_est,omitzero"`
	RscFpopsBound  float64            `json:"rsc_fpops_bound,omitzero"`
	RscMemoryBound float64            `json:"rsc_memory_bound,omitzero"`
	RscDiskBound   float64            `json:"rsc_disk_bound,omitzero"`
	FileRefs       []protocol.FileRef `json:"-"`
}

type unitForm struct {
	Project string `json:"project,omitzero"`
	workunit
	Refs refs `json:"file_refs,omitzero"`
}

func formOfUnit(u Workunit) unitForm {
	return unitForm{u.Project, workunit(u.Workunit), formOfRefs(u.FileRefs)}
}

func (f unitForm) record() Workunit {
	f.FileRefs = f.Refs.refs()
	return Workunit{f.Project, protocol.Workunit(f.workunit)}
}

type result struct {
	Name              string             `json:"name,omitzero"`
	WorkunitName      string             `json:"workunit_name,omitzero"`
	ReportDeadline    time.Time          `json:"report_deadline,omitzero"`
	Platform          string             `json:"platform,omitzero"`
	VersionNum        int                `json:"version_num,omitzero"`
	PlanClass         string             `json:"plan_class,omitzero"`
	FileRefs          []protocol.FileRef `json:"-"`
	ReportImmediately bool               `json:"report_immediately,omitzero"`
}

type resultForm struct {
	Result
	result
	Refs refs `json:"file_refs,omitzero"`
}

func formOfResult(r Result) resultForm {
	return resultForm{r, result(r.Result), formOfRefs(r.FileRefs)}
}

func (f resultForm) record() Result {
	r := f.Result
	r.Result = protocol.Result(f.result)
	r.FileRefs = f.Refs.refs()
	return r
}
