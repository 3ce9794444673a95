package protocol_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/starling-grid/starling/protocol"
)

const evil = "x\x1b]52;c;ZXZpbA==\x07y\u009b2J\u202e\xff\x00z"

// texts calls f with each text in v and the path to it.
func texts(v reflect.Value, path string, f func(path, text string)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			texts(v.Elem(), path, f)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "time" {
			return
		}
		for i := range v.NumField() {
			texts(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			texts(v.Index(i), path, f)
		}
	case reflect.String:
		f(path, v.String())
	}
}

// raw are texts that are kept unchanged for other programs and never shown: XML and signatures.
var raw = map[string]bool{}

func init() {
	for _, name := range []string{
		".GlobalPrefs", ".ProjectPrefs", ".GUIURLs", ".CodeSignKey", ".CodeSignKeySignature", ".DeleteFiles", ".Elements.Files.Signature", ".Elements.Files.XMLSignature",
		".TrickleDowns.Text", ".TrickleDowns.ResultName", ".SigningKey", ".Opaque", ".Accounts.URLSignature",
	} {
		raw[name] = true
	}
}

// Texts from a project or an account manager never contain characters that control a terminal, and
// never exceed the maximum length of their kind.
func TestForeignTextsAreTame(t *testing.T) {
	long := strings.Repeat("ä", 100_000) + evil
	names := map[string][]string{
		"": {
			"master_url", "message", "project_name", "no_rsc_apps", "gui_urls", "user_name", "email_hash", "cross_project_id", "external_cpid", "team_name", "host_venue",
			"error", "error_msg", "name", "authenticator", "signing_key", "opaque", "web_rpc_url_base", "terms_of_use",
		},
		"app":         {"name", "user_friendly_name"},
		"file_info":   {"name", "url", "md5_cksum", "error_msg"},
		"app_version": {"app_name", "platform", "plan_class", "api_version", "cmdline"},
		"workunit":    {"name", "app_name", "command_line"},
		"result":      {"name", "wu_name", "platform", "plan_class"},
		"result_ack":  {"name"},
		"account":     {"url", "authenticator"},
		"platforms":   {"platform"},
	}
	message := func(root string) []byte {
		var b strings.Builder
		b.WriteString("<" + root + "><starling_refusal code=\"memory\" app=\"" + evil + "\" detail=\"" + evil + "\"/><message priority=\"" + evil + "\">" + long + "</message>")
		for parent, children := range names {
			for _, text := range []string{evil, long} {
				if parent != "" {
					b.WriteString("<" + parent + ">")
				}
				for _, c := range children {
					b.WriteString("<" + c + ">" + text + "</" + c + ">")
				}
				if parent != "" {
					b.WriteString("</" + parent + ">")
				}
			}
		}
		return []byte(b.String() + "</" + root + ">")
	}
	scheduler, err1 := protocol.ParseSchedulerReply(message("scheduler_reply"))
	manager, err2 := protocol.ParseManagerReply(message("acct_mgr_reply"))
	config, err3 := protocol.ParseProjectConfig(message("project_config"))
	must(t, errors.Join(err1, err2, err3))
	_, refused := protocol.ParseAccountReply(message("error"))
	seen := 0
	for _, v := range []any{scheduler, manager, config, &struct{ Refused string }{refused.Error()}} {
		texts(reflect.ValueOf(v), "", func(path, text string) {
			if raw[path] {
				return
			}
			seen++
			if strings.ContainsFunc(text, func(c rune) bool {
				return unicode.IsControl(c) && c != '\n' && c != '\t' || unicode.Is(unicode.Bidi_Control, c)
			}) || strings.ToValidUTF8(text, "") != text {
				t.Errorf("%s is %.60q", path, text)
			}
			if len(text) > 64<<10 {
				t.Errorf("%s has %d bytes", path, len(text))
			}
		})
	}
	if n := len(scheduler.ProjectName); n > 256 {
		t.Errorf("a name of %d bytes", n)
	}
	if n := len(scheduler.Messages[0].Text); n > 4096 {
		t.Errorf("a message of %d bytes", n)
	}
	if seen < 60 {
		t.Errorf("only %d texts were looked at", seen)
	}
	if _, err := protocol.ParseSchedulerReply([]byte("<scheduler_reply><project_preferences>" + strings.Repeat("x", 2<<20) + "</project_preferences></scheduler_reply>")); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("preferences of two megabytes: %v", err)
	}
}
