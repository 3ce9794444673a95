package protocol_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func asAccountError(err error, target **protocol.AccountError) bool { return errors.As(err, target) }

func TestHashVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors/other.json")
	must(t, err)
	var v struct {
		Password struct {
			Password   string `json:"password"`
			EmailTyped string `json:"email_typed"`
			MD5        string `json:"md5"`
		} `json:"password_hash"`
		Weak struct {
			UserID        int64  `json:"user_id"`
			Authenticator string `json:"authenticator"`
			Hash          string `json:"stored_password_hash"`
			Weak          string `json:"weak"`
		} `json:"weak_key"`
		Email    struct{ Email, MD5 string } `json:"email_hash"`
		External struct {
			CPID  string `json:"cross_project_id"`
			Email string `json:"email"`
			MD5   string `json:"md5"`
		} `json:"external_cpid"`
		Dirs []struct {
			Name   string `json:"name"`
			Fanout int    `json:"fanout"`
			Dir    string `json:"dir"`
		} `json:"dir_hash"`
	}
	must(t, json.Unmarshal(b, &v))
	equal := func(what, got, want string) {
		t.Helper()
		if got != want || want == "" {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	equal("password hash", protocol.PasswordHash(v.Password.Password, v.Password.EmailTyped), v.Password.MD5)
	equal("weak key", protocol.WeakKey(v.Weak.UserID, protocol.Authenticator(v.Weak.Authenticator), v.Weak.Hash), v.Weak.Weak)
	equal("e-mail hash", protocol.EmailHash(v.Email.Email), v.Email.MD5)
	equal("external id", protocol.ExternalCPID(v.External.CPID, v.External.Email), v.External.MD5)
	for _, d := range v.Dirs {
		equal("directory of "+d.Name, protocol.DirHash(d.Name, d.Fanout), d.Dir)
	}
}

func TestCanonicalMasterURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://127.0.0.1:18080/demo":          "http://127.0.0.1:18080/demo/",
		"HTTPS://Einstein.phys.uwm.edu":        "https://einstein.phys.uwm.edu/",
		"einsteinathome.org":                   "http://einsteinathome.org/",
		"http://a.example//x//y/":              "http://a.example/x/y/",
		"  https://boinc.example/Path/ ":       "https://boinc.example/Path/",
		"http://localhost:8080/":               "",
		"ftp://a.example/":                     "",
		"http://a.example/?q=1":                "",
		"http://u:p@a.example/":                "",
		"http://a.example/<b>":                 "",
		"":                                     "",
		"http://":                              "",
		"http://a.example:65536/":              "",
		"http://a.example:x/":                  "",
		"http://a." + strings.Repeat("x", 300): "",
	} {
		got, err := protocol.CanonicalMasterURL(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
	if _, err := protocol.CanonicalMasterURL("http://a.example/é/"); err == nil || !strings.HasSuffix(err.Error(), "character 'é' is not allowed") {
		t.Error(err)
	}
	if got := protocol.EscapeURL("http://127.0.0.1:18080/demo/"); got != "127.0.0.1_18080_demo" {
		t.Errorf("escaped to %q", got)
	}
}

func TestFileNamesThatLeadElsewhereAreRefused(t *testing.T) {
	for _, name := range []string{
		"", ".", "..", "../x", "a/b", `a\b`, "a%b", "a..b", "C:x", "a\x00b", "a\nb", " a", "a ", "a.",
		"a*", "a?", "a<b", strings.Repeat("x", 256), "app_info.xml", "App_Info.XML", "trickle_up_r_1_1700000000.xml",
	} {
		if err := protocol.ValidFileName(name); !errors.Is(err, protocol.ErrFileName) {
			t.Errorf("%q: got %v, want ErrFileName", name, err)
		}
	}
	for _, name := range []string{"in_1", "upper_1.00_x86_64-pc-linux-gnu", "wu_1_0_r17_0", ".hidden", "a b", "app_info.xml.txt", "trickle_up.xml"} {
		if err := protocol.ValidFileName(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
