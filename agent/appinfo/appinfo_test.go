package appinfo_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/appinfo"
)

const head = "<app_info>\n<app><name>upper</name></app>\n<file_info><name>a</name></file_info>\n<file_info><name>b</name></file_info>\n"

func version(number, file string) string {
	return "<app_version><app_name>upper</app_name><version_num>" + number + "</version_num><file_ref><file_name>" + file + "</file_name><main_program/></file_ref></app_version>\n"
}

func write(t *testing.T, dir, name, text string, perm os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), perm); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if info, err := appinfo.Read(filepath.Join(dir, "none"), "linux"); info != nil || err != nil {
		t.Errorf("without a folder: %+v, %v", info, err)
	}
	if info, err := appinfo.Read(dir, "linux"); info != nil || err != nil || appinfo.Exists(dir) {
		t.Errorf("without a file: %+v, %v", info, err)
	}
	write(t, dir, "app_info.xml", head+version("1", "a")+version("2", "b")+"</app_info>\n", 0o600)
	if !appinfo.Exists(dir) {
		t.Error("the file does not exist")
	}
	info, err := appinfo.Read(dir, "linux")
	if info != nil || err == nil || !strings.Contains(err.Error(), "line 3: file a is not there; put it into "+dir) || !strings.Contains(err.Error(), "line 4: file b") {
		t.Errorf("without its programs: %+v, %v", info, err)
	}
	write(t, dir, "a", "12345", 0o700)
	info, err = appinfo.Read(dir, "linux")
	if info == nil || len(info.Versions) != 1 || info.Versions[0].VersionNum != 1 || info.Versions[0].Platform != "linux" || len(info.Files) != 1 || info.Files[0].NBytes != 5 || err == nil {
		t.Errorf("with one of them: %+v, %v", info, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	write(t, dir, "b", "1", 0o600)
	if info, err = appinfo.Read(dir, "linux"); len(info.Versions) != 1 || err == nil || !strings.Contains(err.Error(), "line 6: program b may not be run; allow it: chmod +x "+filepath.Join(dir, "b")) {
		t.Errorf("with one that is no program: %+v, %v", info, err)
	}
	if err := os.Chmod(filepath.Join(dir, "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if info, err = appinfo.Read(dir, "linux"); len(info.Versions) != 2 || err != nil {
		t.Errorf("with both: %+v, %v", info, err)
	}
	if err := os.Remove(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if info, err = appinfo.Read(dir, "linux"); len(info.Versions) != 1 || err == nil {
		t.Errorf("with a link out of the folder: %+v, %v", info, err)
	}
}
