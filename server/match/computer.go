package match

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"

	"github.com/starling-grid/starling/protocol"
)

// A Computer has a plan class's requirements for a computer and its owner, except the number of
// processors. Versions are numbers: of an operating system 10000·a + 100·b + c for a.b.c, on
// Windows 100000000·a + 1000000·b + 100·c + d for a.b.c.d, of libc 100·major + minor, of Android
// 10000·major + 100·minor + release. Where a key is set, a computer that does not report the value
// is refused.
//
// Source: BOINC sched/plan_class_spec.cpp, PLAN_CLASS_SPEC::check.
type Computer struct {
	OSRegex           *regexp.Regexp `toml:"os_regex"` // matches a part of the version, as the others do
	MinOSVersion      float64        `toml:"min_os_version"`
	MaxOSVersion      float64        `toml:"max_os_version"`
	MinAndroidVersion int            `toml:"min_android_version"`
	MaxAndroidVersion int            `toml:"max_android_version"`
	MinLibcVersion    int            `toml:"min_libc_version"`
	CPUVendorRegex    *regexp.Regexp `toml:"cpu_vendor_regex"`
	CPUModelRegex     *regexp.Regexp `toml:"cpu_model_regex"`

	UserID           int64   `toml:"user_id"`           // only this volunteer's computers (0: all)
	InfeasibleRandom float64 `toml:"infeasible_random"` // fraction of the requests in which the class is not used at all
}

func (c *Computer) numbers() []keyed {
	return []keyed{
		{"min_os_version", c.MinOSVersion},
		{"max_os_version", c.MaxOSVersion},
		{"min_android_version", float64(c.MinAndroidVersion)},
		{"max_android_version", float64(c.MaxAndroidVersion)},
		{"min_libc_version", float64(c.MinLibcVersion)},
		{"user_id", float64(c.UserID)},
	}
}

// lacks returns the requirement that a computer does not meet, or nil.
func (c *Computer) lacks(h *protocol.HostInfo) *Lack {
	for _, x := range []struct {
		regex *regexp.Regexp
		text  string
		what  string
	}{
		{c.OSRegex, h.OSVersion, "another version of the operating system"},
		{c.CPUVendorRegex, h.Vendor, "a processor of another vendor"},
		{c.CPUModelRegex, h.Model, "another model of processor"},
	} {
		if x.regex != nil && !x.regex.MatchString(x.text) {
			return &Lack{Code: protocol.RefusedPlanClass, Detail: x.what}
		}
	}
	for _, x := range []struct {
		least, most, is float64
		what            string
	}{
		{c.MinOSVersion, c.MaxOSVersion, osVersion(h), "another version of the operating system"},
		{float64(c.MinAndroidVersion), float64(c.MaxAndroidVersion), androidVersion(h), "another version of Android"},
		{float64(c.MinLibcVersion), 0, libcVersion(h), "another version of libc"},
	} {
		switch {
		case x.least == 0 && x.most == 0:
		case x.is < x.least || x.is == 0:
			return &Lack{Code: protocol.RefusedPlanClass, Need: x.least, Have: x.is, Detail: x.what}
		case x.most > 0 && x.is > x.most:
			return &Lack{Code: protocol.RefusedPlanClass, Need: x.most, Have: x.is, Detail: x.what}
		}
	}
	return nil
}

// osVersion returns the version of the operating system as a number, or 0 if it is unknown.
func osVersion(h *protocol.HostInfo) float64 {
	var a, b, c, d uint32
	switch {
	case strings.Contains(h.OSName, "Windows"): // "…, (06.01.7601.00)"
		_, text := cutLast(h.OSVersion, "(")
		if n, _ := fmt.Sscanf(text, "%d.%d.%d.%d", &a, &b, &c, &d); n == 4 {
			return 1e8*float64(a) + 1e6*float64(b) + 100*float64(c) + float64(d)
		}
		return 0
	case strings.Contains(h.OSName, "Linux"): // "Ubuntu 18.04.1 LTS [4.15.0-36-generic|libc 2.27 (…)]", or the kernel alone
		text := h.OSVersion
		if _, kernel, ok := strings.Cut(text, "["); ok {
			text = kernel
		}
		return dotted(text)
	case strings.Contains(h.OSName, "Darwin"), strings.Contains(h.OSName, "Android"):
		return dotted(h.OSVersion)
	}
	return 0
}

// dotted returns the version number at the start of a text, as 10000·a + 100·b + c, or 0 if the
// text does not start with one.
func dotted(text string) float64 {
	var a, b, c uint32
	if n, _ := fmt.Sscanf(text, "%d.%d.%d", &a, &b, &c); n == 3 {
		return 1e4*float64(a) + 100*float64(b) + float64(c)
	}
	return 0
}

// androidVersion returns the version in "… (Android 4.3.1)" as a number. Missing parts are 0.
func androidVersion(h *protocol.HostInfo) float64 {
	_, text, ok := strings.Cut(h.OSVersion, "(Android ")
	if !ok || !strings.EqualFold(h.OSName, "Android") {
		return 0
	}
	var a, b, c uint32
	_, _ = fmt.Sscanf(text, "%d.%d.%d", &a, &b, &c)
	return 1e4*float64(a) + 100*float64(b) + float64(c)
}

// libcVersion returns the version in "…|libc 2.27 (…)]" as a number.
func libcVersion(h *protocol.HostInfo) float64 {
	_, text, _ := strings.Cut(h.OSVersion, "|libc ")
	var major, minor uint32
	if n, _ := fmt.Sscanf(text, "%d.%d", &major, &minor); n == 2 {
		return 100*float64(major) + float64(minor)
	}
	return 0
}

// cutLast cuts a text at the last of a separator.
func cutLast(text, sep string) (before, after string) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):]
	}
	return text, ""
}

// unlucky reports whether the class is not used in a request of a computer. It is drawn from the
// request, so that a decision that is made again has the same outcome.
func (c *Computer) unlucky(computer, turn int64) bool {
	return c.InfeasibleRandom > 0 && rand.New(rand.NewPCG(uint64(computer), uint64(turn))).Float64() < c.InfeasibleRandom //nolint:gosec // any bits will do
}
