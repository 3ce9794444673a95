package project

import (
	"slices"
	"testing"
)

// A list that its operator has written on several lines is replaced whole.
func TestEditSettingsReplacesALongList(t *testing.T) {
	c := DefaultConfig()
	c.LongName, c.MasterURL = "Demo", "http://example.org/new/"
	const lines = `long_name = "Demo"
master_url = "http://example.org/new/"
former_urls = [ # of the old computer [1]
  "http://example.org/a/", # of 2024
  "http://example.org/b/",
]
listen = ":8080"
`
	text := EditSettings(lines, map[string]any{"former_urls": []string{"http://example.org/c/"}})
	got, err := ParseConfig("server.toml", []byte(text))
	if err != nil || !slices.Equal(got.FormerURLs, []string{"http://example.org/c/"}) || got.Listen != ":8080" {
		t.Errorf("%v, %q, %q:\n%s", err, got.FormerURLs, got.Listen, text)
	}
}
