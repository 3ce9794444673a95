package bxml

import (
	"bytes"
	"strconv"
)

var (
	cdataOpen  = []byte("<![CDATA[")
	cdataClose = []byte("]]>")
)

// unescape resolves the entities and CDATA sections that BOINC's reader supports. Text without any
// is returned unchanged.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '&') < 0 && !bytes.Contains(b, cdataOpen) {
		return b
	}
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		switch {
		case bytes.HasPrefix(b, cdataOpen):
			b = b[len(cdataOpen):]
			n := bytes.Index(b, cdataClose)
			if n < 0 {
				return append(out, b...)
			}
			out = append(out, b[:n]...)
			b = b[n+len(cdataClose):]
		case b[0] == '&':
			c, n := entity(b)
			out = append(out, c)
			b = b[n:]
		default:
			out = append(out, b[0])
			b = b[1:]
		}
	}
	return out
}

var entities = []struct {
	text string
	c    byte
}{{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}}

// entity reads the entity at the start of b and returns its byte and length. An ampersand that does
// not start an entity stays an ampersand.
func entity(b []byte) (byte, int) {
	for _, e := range entities {
		if bytes.HasPrefix(b, []byte(e.text)) {
			return e.c, len(e.text)
		}
	}
	if bytes.HasPrefix(b, []byte("&#")) {
		if n := bytes.IndexByte(b[:min(len(b), 8)], ';'); n > 2 {
			if c, err := strconv.ParseUint(string(b[2:n]), 10, 8); err == nil {
				return byte(c), n + 1
			}
		}
	}
	return '&', 1
}

// intern returns a string for a tag name. It does not allocate for the names that make up nearly
// all of a message.
func intern(name []byte) string {
	if s, ok := known[string(name)]; ok {
		return s
	}
	return string(name)
}

var known = func() map[string]string {
	m := make(map[string]string)
	for _, s := range []string{
		"name", "result", "file_info", "file_ref", "file_name", "open_name", "workunit", "wu_name",
		"app_version", "app_name", "version_num", "plan_class", "platform", "state", "exit_status",
		"final_cpu_time", "final_elapsed_time", "stderr_out", "other_result", "other_results",
		"nbytes", "max_nbytes", "md5_cksum", "url", "upload_url",
		"download_url", "host_info", "time_stats", "net_stats", "result_ack", "report_deadline",
		"xml_signature", "file_signature", "app_version_num", "avg_ncpus", "flops", "api_version",
		"generated_locally", "upload_when_present", "command_line", "rsc_fpops_est",
		"rsc_fpops_bound", "rsc_memory_bound", "rsc_disk_bound", "working_global_preferences",
	} {
		m[s] = s
	}
	return m
}()
