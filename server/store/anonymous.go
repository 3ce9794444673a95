package store

import (
	"slices"
	"strings"
)

// Some volunteers compute with their own programs, which their clients describe in each request:
// BOINC's anonymous platform. A result that is sent to such a computer does not have an app version
// of the project. Its app_version_id is negative and means all programs of one kind, for one
// application and one kind of processor, on any computer. The host's record with these programs has
// the same number.
//
// Source: BOINC db/boinc_db_types.h, ANON_PLATFORM_CPU and the following. Different here: a
// result's number includes the application too, as BOINC's number in host_app_version does, and the
// number in host_app_version is negative too.

// anonymousStep is the distance between the numbers of two applications, BOINC's.
const anonymousStep = 1_000_000

// anonymousKinds are the kinds of processors. BOINC's number of the first is 2.
var anonymousKinds = []string{"", "NVIDIA", "ATI", "intel_gpu", "apple_gpu"}

// AnonymousVersion returns the number of volunteers' own programs for an application and a kind of
// coprocessor, which is "" for CPUs. It returns 0 for kinds without a number in BOINC.
func AnonymousVersion(appID int64, kind string) int64 {
	i := slices.Index(anonymousKinds, kind)
	if i < 0 {
		return 0
	}
	return -(appID*anonymousStep + 2 + int64(i))
}

// Anonymous returns the application and the kind for a number of AnonymousVersion. ok is false for
// an app version of the project.
func Anonymous(versionID int64) (appID int64, kind string, ok bool) {
	if versionID >= 0 {
		return 0, "", false
	}
	if i := int(-versionID%anonymousStep) - 2; i >= 0 && i < len(anonymousKinds) {
		kind = anonymousKinds[i]
	}
	return -versionID / anonymousStep, kind, true
}

// anonymousClass is the start of the plan class for volunteers' own programs. The project's plan
// classes never start like that.
const anonymousClass = " anonymous "

// AnonymousClass returns the plan class under which CountInProgress counts results of volunteers'
// own programs for a kind of coprocessor. These programs do not have a plan class of the project.
func AnonymousClass(kind string) string { return anonymousClass + kind }

// AnonymousKind returns the kind of coprocessor of an AnonymousClass. ok is false for a plan class
// of the project.
func AnonymousKind(class string) (kind string, ok bool) {
	return strings.CutPrefix(class, anonymousClass)
}

// AnonymousPlatform returns the name, among the platforms of a host, of a volunteer's own programs
// for an application.
func AnonymousPlatform(app string) string { return "anonymous:" + app }
