package protocol_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

const appInfo = `<?xml version="1.0"?>
<!-- an optimized build -->
<app_info>
 <app>
  <name>upper</name>
  <user_friendly_name>Upper</user_friendly_name>
 </app>
 <file_info><name>upper_avx</name><executable/></file_info>
 <file><name>upper.dat</name></file>
 <unknown><name>x</name></unknown>
 <app_version>
  <app_name>upper</app_name>
  <version_num>801</version_num>
  <platform>windows_x86_64</platform>
  <avg_ncpus>0.5</avg_ncpus>
  <max_ncpus>1</max_ncpus>
  <flops>4e9</flops>
  <plan_class>cuda</plan_class>
  <cmdline>--fast</cmdline>
  <api_version>7.5.0</api_version>
  <coproc><type>CUDA</type><count>0.25</count></coproc>
  <file_ref><file_name>upper_avx</file_name><main_program/></file_ref>
  <file_ref><file_name>upper.dat</file_name><open_name>data</open_name><copy_file/></file_ref>
 </app_version>
</app_info>
`

func here(*protocol.FileInfo) string { return "" }

func TestAppInfo(t *testing.T) {
	all, err := protocol.ParseAppInfo([]byte(appInfo))
	must(t, err)
	info, errs := all.Usable("linux", here)
	if len(errs) > 0 || len(info.Apps) != 1 || len(info.Files) != 2 || len(info.Versions) != 1 {
		t.Fatalf("got %+v, %v", info, errs)
	}
	if a, f := info.Apps[0], info.Files[0]; a.Value.Name != "upper" || a.Line != 4 || f.Value.Name != "upper_avx" || !f.Value.Executable || f.Line != 8 {
		t.Errorf("got %+v, %+v", a, f)
	}
	v := info.Versions[0]
	refs := []protocol.FileRef{{FileName: "upper_avx", MainProgram: true}, {FileName: "upper.dat", OpenName: "data", CopyFile: true}}
	want := protocol.AppVersion{
		AppName: "upper", VersionNum: 801, Platform: "windows_x86_64", AvgNCPUs: 0.5, Flops: 4e9, PlanClass: "cuda", Cmdline: "--fast",
		APIVersion: "7.5.0", Coproc: "NVIDIA", CoprocCount: 0.25, FileRefs: refs,
	}
	if v.Line != 11 || fmt.Sprintf("%+v", v.Value) != fmt.Sprintf("%+v", want) {
		t.Errorf("got line %d, %+v; want %+v", v.Line, v.Value, want)
	}
	bare, _ := protocol.ParseAppInfo([]byte(strings.Replace(appInfo, "<platform>windows_x86_64</platform>", "", 1)))
	if info, _ := bare.Usable("linux", here); len(info.Versions) != 1 || info.Versions[0].Value.Platform != "linux" {
		t.Errorf("a version without a platform: %+v", info.Versions)
	}
}

func TestFaultsOfAppInfo(t *testing.T) {
	second := appInfo[strings.Index(appInfo, " <app_version>"):strings.Index(appInfo, "</app_info>")]
	for _, tt := range []struct{ name, old, new, want string }{
		{"no program", "<main_program/>", "", "line 11: a version of upper has no program; write <main_program/>"},
		{"two programs", "<copy_file/>", "<main_program/>", "line 11: a version of upper has 2 programs; leave"},
		{"an unknown application", "<app_name>upper", "<app_name>lower", `line 11: a version is of application "lower", which is not described; add <app>`},
		{"an unknown file", "<file_name>upper.dat", "<file_name>lower.dat", `line 11: a version of upper uses file "lower.dat", which has no <file_info>; add one`},
		{"two files of one name", "<open_name>data", "<open_name>upper_avx", "line 11: a version of upper has two files named upper_avx; give"},
		{"a name outside", "<open_name>data", "<open_name>../data", "line 11: a version of upper: <open_name> of file upper.dat"},
		{"a file outside", "<file><name>upper.dat", "<file><name>/etc/passwd", "line 9: a file needs a usable <name>"},
		{"an address", "<file><name>upper.dat</name>", "<file><name>upper.dat</name><url>http://x/y</url>", "line 9: file upper.dat has an address; remove it"},
		{"a file twice", "<file><name>upper.dat", "<file><name>upper_avx", "line 9: file upper_avx is described twice; remove"},
		{"a version twice", "</app_info>", second + "</app_info>", "line 25: version 801 of upper is described twice; remove"},
		{"no version", second, "", "line 1: there is no <app_version>; describe a version, or remove the file"},
		{"an application without a name", "<name>upper</name>", "", "line 4: an application has no <name>; write"},
		{"a file that is not there", "upper.dat", "gone", "line 9: file gone is not there"},
		{"nothing", appInfo, "", "line 1: there is no <app_info>; write"},
		{"no end", "</app_info>", "", "line 3: <app_info> is not closed; end the file with </app_info>"},
		{"an open version", "</app_version>", "", "line 11: <app_version> is not closed; close it with </app_version>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(appInfo, tt.old) {
				t.Fatalf("%q is not there", tt.old)
			}
			all, err := protocol.ParseAppInfo([]byte(strings.Replace(appInfo, tt.old, tt.new, 1)))
			var got string
			if err != nil {
				got = err.Error()
			}
			_, errs := all.Usable("linux", func(f *protocol.FileInfo) string {
				if f.Name == "gone" {
					return "is not there"
				}
				return ""
			})
			for _, e := range errs {
				if err == nil {
					got += e.Error() + "\n"
				}
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzAppInfo(f *testing.F) {
	f.Add([]byte(appInfo))
	f.Add([]byte("<app_info><app_version>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := protocol.ParseAppInfo(b)
		if err != nil {
			return
		}
		info, _ := all.Usable("p", here)
		for _, v := range info.Versions {
			if v.Line < 1 || v.Value.AppName == "" || v.Value.Platform == "" {
				t.Errorf("an unusable version: %+v", v)
			}
		}
	})
}
