package store

import (
	"slices"
	"strings"
)

// Some volunteers compute with programs of their own, which their clients describe in each
// request: BOINC's anonymous platform. A result that is sent to such a computer has no app
// version of the project. Its app_version_id is below 0 and stands for all programs of that
// kind: those for one application and one kind of processor, on any computer. What a host
// earns with them is recorded by the same number.
//
// Source: BOINC db/boinc_db_types.h, ANON_PLATFORM_CPU and the following. Different here:
// the number holds the application too, as that in BOINC's host_app_version does, and is
// below 0 there as well.

// anonymousStep is the distance between the numbers of two applications, BOINC's.
const anonymousStep = 1_000_000

// anonymousKinds are the kinds of processors; BOINC's number of the first is 2.
var anonymousKinds = []string{"", "NVIDIA", "ATI", "intel_gpu", "apple_gpu"}

// AnonymousVersion returns the number of volunteers' own programs for an application that
// compute on a kind of coprocessor; "" is the CPUs. It returns 0 for kinds that BOINC has
// no number for.
func AnonymousVersion(appID int64, kind string) int64 {
	i := slices.Index(anonymousKinds, kind)
	if i < 0 {
		return 0
	}
	return -(appID*anonymousStep + 2 + int64(i))
}

// Anonymous returns what AnonymousVersion made a number of; ok is false for an app version
// of the project.
func Anonymous(versionID int64) (appID int64, kind string, ok bool) {
	if versionID >= 0 {
		return 0, "", false
	}
	if i := int(-versionID%anonymousStep) - 2; i >= 0 && i < len(anonymousKinds) {
		kind = anonymousKinds[i]
	}
	return -versionID / anonymousStep, kind, true
}

// anonymousClass begins what counts as the plan class of volunteers' own programs. No plan
// class of a project begins like that.
const anonymousClass = " anonymous "

// AnonymousClass is what CountInProgress counts results of volunteers' own programs under,
// which have no plan class of the project, by their kind of coprocessor.
func AnonymousClass(kind string) string { return anonymousClass + kind }

// AnonymousKind is the kind of coprocessor of an AnonymousClass; ok is false for a plan
// class.
func AnonymousKind(class string) (kind string, ok bool) {
	return strings.CutPrefix(class, anonymousClass)
}

// AnonymousPlatform is what stands among the platforms of a host for volunteers' own
// programs of an application.
func AnonymousPlatform(app string) string { return "anonymous:" + app }
