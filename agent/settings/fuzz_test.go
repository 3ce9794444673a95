package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/starling-grid/starling/agent/settings"
)

// FuzzFiles puts any text into the files that people edit. Either it is understood or there is an
// error, and a file that is not understood stays unchanged.
func FuzzFiles(f *testing.F) {
	f.Add("ncpus = 2\n[log_flags]\ntask = true\n", "master_url = \"http://p.example/\"\nauthenticator = \"1_a\"\n", "resource_share = 5.0\n[manager]\nurl = \"u\"\n")
	f.Fuzz(func(t *testing.T, file, account, override string) {
		d := t.TempDir()
		must(t, os.Mkdir(filepath.Join(d, settings.AccountsDir), 0o700))
		for name, text := range map[string]string{settings.File: file, "accounts/p.toml": account, "accounts/p.override.toml": override} {
			must(t, os.WriteFile(filepath.Join(d, name), []byte(text), 0o600))
		}
		before, err := settings.Load(d)
		if errChange := settings.ChangeSettings(d, func(s *settings.Settings) { s.NCPUs = 3 }); err == nil && errChange == nil {
			if after, err := settings.Load(d); err != nil || after.NCPUs != 3 || after.MaxFileXfers != before.MaxFileXfers {
				t.Errorf("after a change: %+v, %v", after, err)
			}
		}
		good, _, err := settings.LoadAccounts(d)
		if err != nil || len(good) != 1 {
			return
		}
		yes := true
		if err := settings.ChangeAccount(d, good[0].MasterURL, func(o *settings.Override) { o.Suspended = &yes }); err != nil {
			return
		}
		if again, _, err := settings.LoadAccounts(d); err != nil || len(again) != 1 || !again[0].Suspended || again[0].ResourceShare != good[0].ResourceShare {
			t.Errorf("after a change: %+v, %v", again, err)
		}
	})
}
