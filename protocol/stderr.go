package protocol

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/protocol/bxml"
)

// maxStderr bounds the program output sent with a result, as BOINC does.
const maxStderr = 64 << 10

const versionTag, versionEnd = "<core_client_version>", "</core_client_version>\n"

// StderrOut returns the content of a result's <stderr_out>: the client's version and the report of
// the result's end. A report that already contains a version, like the reports of earlier agents,
// is returned unchanged.
func (v Version) StderrOut(report string) string {
	if strings.HasPrefix(report, versionTag) {
		return report
	}
	return fmt.Sprintf("%s%d.%d.%d%s%s", versionTag, v.Major, v.Minor, v.Release, versionEnd, report)
}

// writeStderrOut writes the element, if there is one, in BOINC's form: an element with the version,
// followed by arbitrary text.
//
// Source: BOINC client/result.cpp, RESULT::write.
func writeStderrOut(w *bxml.Writer, text string) {
	if text == "" {
		return
	}
	w.Open("stderr_out")
	if version, rest, ok := strings.Cut(text, versionEnd); ok && plainVersion(strings.TrimPrefix(version, versionTag)) {
		w.Raw(version + versionEnd)
		text = strings.TrimLeft(rest, "\n")
	}
	if text != "" {
		w.CDATA(text[max(0, len(text)-maxStderr):]) // the end is the most useful part
	}
	w.Close("stderr_out")
}

// scanStderrOut reads the element, or its end if it is too long. The empty line between the version
// and the rest belongs to neither.
func scanStderrOut(s *bxml.Scanner) string {
	text := s.Tail(maxBlob)
	if version, rest, ok := strings.Cut(text, versionEnd); ok && strings.HasPrefix(version, versionTag) {
		return version + versionEnd + strings.TrimLeft(rest, "\n")
	}
	return text
}

func plainVersion(s string) bool { return s != "" && strings.Trim(s, "0123456789.") == "" }
