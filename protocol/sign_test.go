package protocol_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

func vector(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/vectors/" + name)
	must(t, err)
	return string(b)
}

func TestSignatureVectors(t *testing.T) {
	for _, v := range []struct{ key, content, signature string }{
		{"code_sign", "content-1.txt", "content-1.txt.sig"},
		{"code_sign", "content-empty.bin", "content-empty.bin.sig"},
		{"code_sign", "content-ff.bin", "content-ff.bin.sig"},
		{"upload", "upload-cert.txt", "upload-cert.sig"},
	} {
		priv, err := protocol.ParsePrivateKey(vector(t, v.key+"_private"))
		must(t, err)
		pub, err := protocol.ParsePublicKey(vector(t, v.key+"_public"))
		must(t, err)
		content, want := vector(t, v.content), vector(t, v.signature)
		got, err := priv.SignText(content)
		if err != nil || strings.TrimSpace(got) != strings.TrimSpace(want) {
			t.Errorf("%s: signed %v\n%s\nwant\n%s", v.content, err, got, want)
		}
		for variant, sig := range map[string]string{
			"as given":       want,
			"upper case":     strings.ToUpper(want),
			"without dot":    strings.Replace(want, ".", "", 1),
			"one line":       strings.ReplaceAll(want, "\n", ""),
			"CR LF":          strings.ReplaceAll(want, "\n", "\r\n"),
			"leading blank":  "\n" + want,
			"indented lines": strings.ReplaceAll(want, "\n", "\n   "),
		} {
			if err := pub.VerifyText(content, sig); err != nil {
				t.Errorf("%s, %s: %v", v.content, variant, err)
			}
		}
		if err := pub.VerifyText(content+"x", want); !errors.Is(err, protocol.ErrSignature) {
			t.Errorf("%s altered: got %v, want ErrSignature", v.content, err)
		}
		if err := pub.VerifyText(content, want[:64]); err == nil {
			t.Errorf("%s: a short signature was accepted", v.content)
		}
	}
}

func TestKeyTextIsBOINCs(t *testing.T) {
	for _, name := range []string{"code_sign", "upload", "code_sign_new"} {
		priv, err := protocol.ParsePrivateKey(vector(t, name+"_private"))
		must(t, err)
		if got, want := strings.TrimSpace(priv.Text()), strings.TrimSpace(vector(t, name+"_private")); got != want {
			t.Errorf("%s_private: written as\n%s\nwant\n%s", name, got, want)
		}
		if got, want := strings.TrimSpace(priv.Public().Text()), strings.TrimSpace(vector(t, name+"_public")); got != want {
			t.Errorf("%s_public: written as\n%s\nwant\n%s", name, got, want)
		}
	}
}

func TestGeneratedKeysSignAndVerify(t *testing.T) {
	k, err := protocol.GenerateKey()
	must(t, err)
	again, err := protocol.ParsePrivateKey(k.Text())
	must(t, err)
	sig, err := again.SignText("text")
	must(t, err)
	if err := k.Public().VerifyText("text", sig); err != nil {
		t.Error(err)
	}
}

func TestNewCodeSigningKey(t *testing.T) {
	old, offered := vector(t, "code_sign_public"), vector(t, "code_sign_new_public")
	if err := protocol.AcceptNewKey(old, offered, vector(t, "key-rotation-stripped.sig")); err != nil {
		t.Error(err)
	}
	for name, sig := range map[string]string{
		"no signature":          "",
		"unstripped text":       vector(t, "key-rotation-unstripped.sig"),
		"signature of sth else": vector(t, "content-1.txt.sig"),
		"garbage":               "1234\n.\n",
	} {
		if err := protocol.AcceptNewKey(old, offered, sig); err == nil {
			t.Errorf("%s: the key was accepted", name)
		}
	}
	if err := protocol.AcceptNewKey(old, "1024\nff\n.\n", vector(t, "key-rotation-stripped.sig")); err == nil {
		t.Error("a key that is none was accepted")
	}
}

func TestCertificateText(t *testing.T) {
	if got, want := protocol.CertificateText("wu_1_0_r1_0", 1000000), "<name>wu_1_0_r1_0</name><max_nbytes>1000000</max_nbytes>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
