package project

import "testing"

// Settings are taken or refused, and settings that are taken are written so that they
// are taken again.
func FuzzConfig(f *testing.F) {
	c := DefaultConfig()
	c.LongName, c.MasterURL = "Fuzz", "http://127.0.0.1/"
	f.Add(c.Text())
	f.Add("long_name = \"x\"\nmaster_url = \"https://p.example/\"\n[plan_class.mt]\nmin_ncpus = 2\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig("server.toml", []byte(text))
		if err != nil {
			return
		}
		_ = c.ListenAddr()
		if _, err := ParseConfig("server.toml", []byte(c.Text())); err != nil {
			t.Errorf("%v in %s", err, c.Text())
		}
	})
}
