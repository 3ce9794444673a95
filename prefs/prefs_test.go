package prefs_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/prefs"
)

func parse(t *testing.T, src, venue string) prefs.Layer {
	t.Helper()
	l, err := prefs.Parse("prefs.toml", []byte(src), venue)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestParse(t *testing.T) {
	p := prefs.Merge(parse(t, "max_ncpus_pct = 50\nwork_buf_min_days = 0.5\n", ""))
	if got := p.CPUs(8, true); got != 4 {
		t.Errorf("of 8 CPUs %d are used, want 4", got)
	}
	if got := p.CPUs(8, false); got != 4 {
		t.Errorf("not in use, of 8 CPUs %d are used, want 4 as in use", got)
	}
	if got := p.CPUs(1, true); got != 1 {
		t.Errorf("of 1 CPU %d are used, want 1", got)
	}
	for src, want := range map[string]string{"": "", "max_ncpus_pct = 100\nmax_cpus = 9": "", "max_ncpus_pct = 50\nmax_cpus = 6": "max_ncpus_pct = 50", "max_ncpus_pct = 50\nmax_cpus = 2.5": "max_cpus = 2.5", "niu_max_ncpus_pct = 25": "niu_max_ncpus_pct = 25"} {
		if got := prefs.Merge(parse(t, src, "")).CPUBound(8, false); got.Text.String() != want || (!got.Cure.Is()) != (want == "") {
			t.Errorf("%q bounds CPUs by %+v, want %q", src, got, want)
		}
	}
	if p.LowWater() != 12*time.Hour || p.HighWater() != 24*time.Hour {
		t.Errorf("marks are %v and %v", p.LowWater(), p.HighWater())
	}
}

func TestEveryFaultIsTold(t *testing.T) {
	_, err := prefs.Parse("prefs.toml", []byte("max_ncpu_pct = 50\nwork_buf_min_days = -1\ndisk_interval = \"x\"\n"), "")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"prefs.toml:1: max_ncpu_pct: unknown key, did you mean max_ncpus_pct?",
		`prefs.toml:3: disk_interval: "x" is not a number`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
	src := "work_buf_min_days = -1\nmax_ncpus_pct = nan\n[venue.home]\nend_hour = 25\n[venue.work.day.monday]\nstart_hour = -3\n[day.friday]\nnet_end_hour = 99"
	_, err = prefs.Parse("prefs.toml", []byte(src), "")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"prefs.toml:1: work_buf_min_days: -1 is not between 0 and 10",
		"prefs.toml:2: max_ncpus_pct: NaN is not between",
		"prefs.toml:4: venue.home.end_hour: 25 is not between 0 and 24",
		"prefs.toml:6: venue.work.day.monday.start_hour: -3 is not between 0 and 24",
		"prefs.toml:8: day.friday.net_end_hour: 99 is not between 0 and 24",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, want %q in it", err, want)
		}
	}
}

// The order is: default, project, its venue, the volunteer's file, its venue, the override. The
// later wins, and each value names its origin.
func TestPrecedence(t *testing.T) {
	project, changed, err := prefs.ParseXML("the project", `<mod_time>1700000000</mod_time><max_ncpus_pct>10</max_ncpus_pct>
		<disk_interval>10</disk_interval><run_on_batteries>1</run_on_batteries>
		<venue name="work"><max_ncpus_pct>20</max_ncpus_pct><idle_time_to_run>20</idle_time_to_run><cpu_usage_limit>20</cpu_usage_limit></venue>`, "work", true)
	if err != nil || changed.Unix() != 1700000000 {
		t.Fatal(err, changed)
	}
	src := "idle_time_to_run = 30\ncpu_usage_limit = 30\n[venue.work]\ncpu_usage_limit = 40\n[venue.home]\ncpu_usage_limit = 99\n"
	override := prefs.Layer{Origin: "override", Values: map[string]float64{"work_buf_min_days": 2}}
	p := prefs.Merge(project, parse(t, src, "work"), override)
	for name, want := range map[string]struct {
		value  float64
		origin string
	}{
		"max_ncpus_pct":      {20, "the project"},
		"disk_interval":      {60, "default"}, // only the venue's section counts
		"run_on_batteries":   {0, "the project"},
		"run_if_user_active": {0, "the project"}, // absent from a complete set: no
		"idle_time_to_run":   {30, "prefs.toml"},
		"cpu_usage_limit":    {40, "prefs.toml"},
		"niu_max_ncpus_pct":  {20, "as max_ncpus_pct"},
		"work_buf_min_days":  {2, "override"},
		"disk_max_used_pct":  {90, "default"},
	} {
		for _, k := range prefs.Keys() {
			if k.Name == name && (k.Get(&p.Prefs) != want.value || p.Origin[name] != want.origin) {
				t.Errorf("%s is %v from %s, want %v from %s", name, k.Get(&p.Prefs), p.Origin[name], want.value, want.origin)
			}
		}
	}
}

// Preferences survive being written as XML and read again.
func TestXMLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := prefs.Layer{Origin: "x", Values: make(map[string]float64), Days: make(map[time.Weekday]prefs.Day)}
		for _, k := range prefs.Keys() {
			v := rapid.Float64Range(k.Least, k.Most).Draw(t, k.Name)
			if v = float64(int(v)); k.Bool() && v != 0 {
				v = 1
			}
			l.Values[k.Name] = max(v, k.Least)
		}
		l.Days[time.Weekday(rapid.IntRange(0, 6).Draw(t, "day"))] = prefs.Day{StartHour: 1, EndHour: 2, NetStartHour: 3, NetEndHour: 4}
		p := prefs.Merge(l)
		again, _, err := prefs.ParseXML("x", p.XML(), "", true)
		if err != nil {
			t.Fatal(err)
		}
		if got := prefs.Merge(again); got.Prefs != p.Prefs {
			t.Fatalf("got %+v, want %+v", got.Prefs, p.Prefs)
		}
	})
}

func TestDefaultsAreBOINCs(t *testing.T) {
	p := prefs.Default()
	if p.RunOnBatteries || !p.RunIfUserActive || p.IdleTimeToRun != 3 || p.SuspendCPUUsage != 25 || p.WorkBufMinDays != 0.1 ||
		p.WorkBufAdditionalDays != 0.5 || p.SwitchMinutes != 60 || p.DiskInterval != 60 || p.RAMMaxUsedBusyPct != 50 ||
		p.RAMMaxUsedIdlePct != 90 || p.DiskMaxUsedPct != 90 || p.DiskMinFreeGB != 0.1 || p.LeaveAppsInMemory {
		t.Errorf("got %+v", p)
	}
}

func TestDisk(t *testing.T) {
	p := prefs.Default()
	const gb = int64(prefs.GB)
	for _, tt := range []struct{ total, free, used, want int64 }{
		{100 * gb, 50 * gb, 10 * gb, 60*gb - gb/10 - 1}, // leave 0.1 GB free
		{100 * gb, 95 * gb, 5 * gb, 90 * gb},            // 90 %
		{100 * gb, 0, 0, 0},
	} {
		if got := p.Disk(tt.total, tt.free, tt.used); got != tt.want {
			t.Errorf("of %d with %d free and %d used: %d, want %d", tt.total, tt.free, tt.used, got, tt.want)
		}
	}
	p.DiskMaxUsedGB = 7
	if got := p.Disk(100*gb, 50*gb, 0); got != 7*gb {
		t.Errorf("with a limit of 7 GB: %d", got)
	}
}
