package workgen_test

import (
	"testing"

	"github.com/starling-grid/starling/server/workgen"
)

func TestNameOfACopy(t *testing.T) {
	const md5 = "0123456789abcdef0123456789abcdef"
	for url, want := range map[string][2]string{
		"https://data.example/m31.fits":             {"m31.fits", "m31_0123456789abcdef.fits"},
		"https://data.example/a%2F..%2Fb c?x=../..": {"b_c", "b_c_0123456789abcdef"},
		"https://data.example/":                     {"file", "file_0123456789abcdef"},
		"https://data.example":                      {"file", "file_0123456789abcdef"},
		"https://data.example/..":                   {"_", "__0123456789abcdef"},
	} {
		r := workgen.Remote{URL: url, MD5: md5}
		if r.File() != want[0] || r.Name() != want[1] {
			t.Errorf("%s: %q and %q, want %q", url, r.File(), r.Name(), want)
		}
	}
}
