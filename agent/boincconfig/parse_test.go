package boincconfig_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/starling-grid/starling/agent/boincconfig"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/protocol/bxml"
)

const file = `<cc_config>
<log_flags><task>0</task><task_debug>1</task_debug><file_xfer>1</file_xfer><rr_simulation>1</rr_simulation><poll_debug>0</poll_debug></log_flags>
<options>
%s
</options>
</cc_config>
`

func parse(t *testing.T, options string) boincconfig.Config {
	t.Helper()
	c, err := boincconfig.Parse([]byte(strings.Replace(file, "%s", options, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// After the change, the settings have the value of the option.
func TestOptions(t *testing.T) {
	for name, c := range map[string]struct {
		options string
		want    func(*settings.Settings)
	}{
		"numbers and switches": {
			"<ncpus>2</ncpus><max_file_xfers>4</max_file_xfers><use_all_gpus/><no_gpus>1</no_gpus><report_results_immediately>1</report_results_immediately>",
			func(s *settings.Settings) {
				s.NCPUs, s.MaxFileXfers, s.UseAllGPUs, s.NoGPUs, s.ReportResultsImmediately = 2, 4, true, true, true
			},
		},
		"BOINC's way to say all CPUs": {"<ncpus>-1</ncpus>", func(*settings.Settings) {}},
		"coprocessors": {
			"<coproc><type>fake</type><count>2</count><peak_flops>1e10</peak_flops><device_nums>0 1</device_nums></coproc>" +
				"<coproc><type>other</type><count>3</count><device_nums>4 2</device_nums></coproc><coproc><type>CPU</type><count>1</count></coproc>",
			func(s *settings.Settings) {
				s.Coprocs = []settings.Coproc{{Type: "fake", Count: 2, PeakFlops: 1e10}, {Type: "other", Count: 3, Devices: []int{4, 2, 2}}}
			},
		},
		"GPUs that are not used": {
			"<ignore_nvidia_dev>1</ignore_nvidia_dev><ignore_cuda_dev>0</ignore_cuda_dev><ignore_ati_dev>2</ignore_ati_dev>" +
				"<ignore_intel_dev>0</ignore_intel_dev><ignore_apple_dev>0</ignore_apple_dev><ignore_ati_dev>-1</ignore_ati_dev>",
			func(s *settings.Settings) {
				s.IgnoreGPUs = []settings.IgnoreGPU{
					{Type: "NVIDIA", Devices: []int{1, 0}}, {Type: "ATI", Devices: []int{2}}, {Type: "intel_gpu", Devices: []int{0}}, {Type: "apple_gpu", Devices: []int{0}},
				}
			},
		},
		"a proxy that is named": {
			"<proxy_info><http_server_name>proxy.example</http_server_name><http_server_port>3128</http_server_port><http_user_name>u</http_user_name>" +
				"<http_user_passwd>p</http_user_passwd><no_proxy>a.example, b.example</no_proxy></proxy_info>",
			func(s *settings.Settings) {
				s.Proxy, s.NoProxy = "http://u:p@proxy.example:3128", []string{"a.example", "b.example"}
			},
		},
		"no proxy": {"<proxy_info><http_server_name></http_server_name><http_server_port>80</http_server_port></proxy_info>", func(*settings.Settings) {}},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := settings.Default(), settings.Default()
			parse(t, c.options).Apply(&got)
			want.LogFlags["task"], want.LogFlags["task_debug"] = false, true
			want.ExclusiveApps, want.ExclusiveGPUApps = []string{}, []string{}
			c.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

// Options without a like are named if they are not as BOINC has them anyway.
func TestUnused(t *testing.T) {
	c := parse(t, "<start_delay>0.000000</start_delay><http_transfer_timeout>300</http_transfer_timeout><force_auth>default</force_auth><max_overdue_days>-1.000000</max_overdue_days>"+
		"<alt_platform></alt_platform><network_test_url>https://www.google.com/</network_test_url>"+
		"<use_certs/><rec_half_life_days>5</rec_half_life_days><alt_platform>x</alt_platform><alt_platform>y</alt_platform><dont_use_vbox>0</dont_use_vbox><ncpu>3</ncpu>")
	if want := []string{"alt_platform", "ncpu", "rec_half_life_days", "rr_simulation", "use_certs"}; !slices.Equal(c.Unused, want) {
		t.Errorf("%v, want %v", c.Unused, want)
	}
}

func TestExcludedGPUs(t *testing.T) {
	c := parse(t, "<exclude_gpu><url>https://p.example</url><device_num>1</device_num><type>NVIDIA</type><app>a</app></exclude_gpu>"+
		"<exclude_gpu><url>https://p.example/</url></exclude_gpu>")
	want := map[string][]settings.ExcludeGPU{"https://p.example/": {{Type: "NVIDIA", Devices: []int{1}, App: "a"}, {}}}
	if !reflect.DeepEqual(c.ExcludeGPUs, want) {
		t.Errorf("%+v, want %+v", c.ExcludeGPUs, want)
	}
}

func TestApps(t *testing.T) {
	l, err := boincconfig.ParseApps([]byte(`<app_config>
<project_max_concurrent>3</project_max_concurrent><report_results_immediately>0</report_results_immediately>
<app><name>a</name><max_concurrent>2</max_concurrent><fraction_done_exact/><gpu_versions><gpu_usage>.5</gpu_usage><cpu_usage>.25</cpu_usage></gpu_versions></app>
<app_version><app_name>a</app_name><plan_class>mt</plan_class><avg_ncpus>4</avg_ncpus><ngpus>0.000000</ngpus><cmdline>-t 4</cmdline></app_version>
<app_version><app_name>b</app_name><plan_class></plan_class><avg_ncpus>1</avg_ncpus></app_version>
</app_config>`))
	want := boincconfig.Limits{
		MaxConcurrent: 3,
		Apps:          []settings.App{{Name: "a", MaxConcurrent: 2, GPUUsage: 0.5, CPUUsage: 0.25, AvgNCPUs: 4, Cmdline: "-t 4"}, {Name: "b", AvgNCPUs: 1}},
		Unused:        []string{"fraction_done_exact", "plan_class"},
	}
	if err != nil || !reflect.DeepEqual(l, want) {
		t.Errorf("got  %+v, %v\nwant %+v", l, err, want)
	}
}

// Reading gives the values that were written.
func TestWrite(t *testing.T) {
	s := settings.Default()
	s.NCPUs, s.UseAllGPUs, s.NoGPUs, s.DeviceName = 2, true, true, "name"
	s.Proxy, s.NoProxy = "socks5h://u:p@proxy.example:1080", []string{"a.example"}
	s.Coprocs = []settings.Coproc{{Type: "fake", Count: 2, PeakFlops: 1e10}, {Type: "other", Count: 1, Devices: []int{4}}}
	s.IgnoreGPUs = []settings.IgnoreGPU{{Type: "NVIDIA", Devices: []int{1}}, {Type: "ATI", Devices: []int{0, 2}}}
	s.ExclusiveApps, s.ExclusiveGPUApps = []string{"game"}, []string{"render", "film"}
	accounts := []settings.Account{{MasterURL: "https://p.example/", ExcludeGPUs: []settings.ExcludeGPU{{Type: "NVIDIA", Devices: []int{1}, App: "a"}, {}}}}
	var w bxml.Writer
	boincconfig.Write(&w, s, accounts)
	c, err := boincconfig.Parse(w.Bytes())
	if err != nil || len(c.Unused) > 0 {
		t.Fatal(err, c.Unused)
	}
	read := settings.Default()
	c.Apply(&read)
	if !reflect.DeepEqual(read, s) {
		t.Errorf("got  %+v\nwant %+v", read, s)
	}
	if got := c.ExcludeGPUs["https://p.example/"]; !reflect.DeepEqual(got, accounts[0].ExcludeGPUs) {
		t.Errorf("excluded %+v", got)
	}

	acc := settings.Account{MaxConcurrent: 3, Apps: []settings.App{{Name: "a", MaxConcurrent: 2, GPUUsage: 0.5, CPUUsage: 0.25, AvgNCPUs: 4, Cmdline: "-t 4", ReportImmediately: true}}}
	var apps bxml.Writer
	boincconfig.WriteApps(&apps, acc)
	l, err := boincconfig.ParseApps(apps.Bytes())
	if want := (boincconfig.Limits{MaxConcurrent: 3, Apps: acc.Apps}); err != nil || !reflect.DeepEqual(l, want) {
		t.Errorf("%v, got %+v, want %+v", err, l, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(strings.Replace(file, "%s", "<coproc><type>x</type><count>99999999999</count></coproc><proxy_info><socks_server_name>s</socks_server_name></proxy_info><exclude_gpu/>", 1)))
	f.Add([]byte("<app_config><app><name>a</name><gpu_versions><gpu_usage>-1</gpu_usage></gpu_versions></app></app_config>"))
	f.Fuzz(func(t *testing.T, src []byte) {
		s := settings.Default()
		c, _ := boincconfig.Parse(src)
		c.Apply(&s)
		for _, coproc := range s.Coprocs {
			if len(coproc.Devices) > 64 {
				t.Errorf("%d devices", len(coproc.Devices))
			}
		}
		_, _ = boincconfig.ParseApps(src)
	})
}
