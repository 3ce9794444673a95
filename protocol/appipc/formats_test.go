package appipc_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestInitDataOfARealClient(t *testing.T) {
	file := read(t, "testdata/init_data.xml")
	d, err := appipc.ParseInitData(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		field     string
		got, want any
	}{
		{"version", []int{d.MajorVersion, d.MinorVersion, d.Release, d.AppVersion}, []int{7, 20, 5, 101}},
		{"ids", []int64{d.UserID, d.TeamID, d.HostID}, []int64{7, 3, 42}},
		{"team", d.TeamName, "Team & Co"},
		{"shm_key", d.SHMKey, -1},
		{"pid", d.ClientPID, 20470},
		{"checkpoint period", d.CheckpointPeriod, 10 * time.Second},
		{"disk", d.RscDiskBound, int64(10000000)},
		{"deadline", d.ComputationDeadline.UTC(), time.Unix(1795466550, 0).UTC()},
		{"speed", d.HostFPOPS(), 1e9},
		{"files", d.AppFiles, []string{"uc2_101"}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.field, c.got, c.want)
		}
	}
	if got := d.Encode(); string(got) != string(file) {
		t.Errorf("encoding differs from the client's file:\n%s", got)
	}
}

func TestInitDataOptionalParts(t *testing.T) {
	want := appipc.DefaultInitData()
	want.PlanClass, want.ProjectPreferences = "mt", "<color>1</color>"
	want.WUCPUTime = 1500 * time.Millisecond
	got, err := appipc.ParseInitData(want.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestInitDataWithoutKeyHasNoChannels(t *testing.T) {
	d, err := appipc.ParseInitData([]byte("<app_init_data>\n<slot>2</slot>\n</app_init_data>\n"))
	if err != nil || d.SHMKey != 0 || d.Slot != 2 || d.FractionDoneEnd != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := appipc.ParseInitData([]byte("<app_init_data>\n<slot>2</slot>\n")); err == nil {
		t.Error("half a file accepted")
	}
}

func TestStatusOfRealApplications(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       appipc.Status
	}{
		{
			"application of 7.20",
			"<current_cpu_time>1.390331e+01</current_cpu_time>\n<checkpoint_cpu_time>1.285056e+01</checkpoint_cpu_time>\n<fraction_done>5.680473e-01</fraction_done>\n",
			appipc.Status{CPUTime: 13903310 * time.Microsecond, CheckpointCPUTime: 12850560 * time.Microsecond, FractionDone: .5680473},
		},
		{
			"application of 8.3 that has told no fraction",
			"<current_cpu_time>1.0e+00</current_cpu_time>\n<checkpoint_cpu_time>0.000000e+00</checkpoint_cpu_time>\n<want_network>1</want_network>\n",
			appipc.Status{CPUTime: time.Second, WantNetwork: true},
		},
		{"nonsense", "<current_cpu_time>-4</current_cpu_time><other_pid>1</other_pid><fraction_done>nan</fraction_done><wss>", appipc.Status{}},
		{"more than all", "<fraction_done>7</fraction_done>", appipc.Status{FractionDone: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := appipc.ParseStatus(c.text); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestMessagesSurviveTheirWay(t *testing.T) {
	st := appipc.Status{CPUTime: 3 * time.Second, CheckpointCPUTime: time.Second, FractionDone: .25, WantNetwork: true, OtherPID: 77, WorkingSet: 1 << 20}
	if got := appipc.ParseStatus(st.Encode()); got.OtherPID != 77 || got.FractionDone != .25 || got.CPUTime != st.CPUTime {
		t.Errorf("got %+v, want %+v", got, st)
	}
	h := appipc.Heartbeat{WorkingSet: 4096000, MaxWorkingSet: 1e9, NetworkSuspended: true}
	if got, want := h.Encode(), "<heartbeat/><wss>4.096000e+06</wss><max_wss>1.000000e+09</max_wss><network_suspended/>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !appipc.Quit.In("<resume/><quit/>") || appipc.Abort.In("<quit/>") {
		t.Error("control message not recognised")
	}
}

func TestSoftLink(t *testing.T) {
	const target = "../../projects/example.org_p/in_1.txt"
	for _, c := range []struct {
		name, content, want string
	}{
		{"ours", string(appipc.SoftLink(target)), target},
		{"without newline", "<soft_link>x</soft_link>", "x"},
		{"a plain file", "hello", ""},
		{"an empty file", "", ""},
		{"no end tag", "<soft_link>x", ""},
		{"only the first line counts", "a\n<soft_link>x</soft_link>", ""},
		{"empty target", "<soft_link></soft_link>", ""},
	} {
		if got, ok := appipc.ParseSoftLink([]byte(c.content)); (c.want != "") != ok || ok && got != c.want {
			t.Errorf("%s: got %q %v, want %q", c.name, got, ok, c.want)
		}
	}
}

func TestEndFiles(t *testing.T) {
	if got := string(appipc.Finish{}.Encode()); got != "0\n" {
		t.Errorf("finish file: got %q", got)
	}
	f := appipc.Finish{Status: 3, Message: "two\nlines", Notice: true}
	if got := appipc.ParseFinish(f.Encode()); got != (appipc.Finish{Status: 3, Message: "two lines", Notice: true}) {
		t.Errorf("got %+v", got)
	}
	te, ok := appipc.ParseTemporaryExit([]byte("600\nWaiting to acquire slot directory lock.  Another instance may be running.\n"))
	if !ok || te.Delay != 10*time.Minute {
		t.Errorf("got %+v %v", te, ok)
	}
	if te, ok := appipc.ParseTemporaryExit([]byte("86401\nx\nnotice\n")); !ok || te.Delay != 5*time.Minute || !te.Notice {
		t.Errorf("got %+v %v", te, ok)
	}
	if _, ok := appipc.ParseTemporaryExit([]byte("60\n")); ok {
		t.Error("temporary exit without reason recognised")
	}
}

func TestTaskStateOfARealClient(t *testing.T) {
	file := read(t, "testdata/boinc_task_state.xml")
	got, err := appipc.ParseTaskState(file)
	if err != nil {
		t.Fatal(err)
	}
	if got.ResultName != "wu_1_0" || got.CPUTime != 12850560*time.Microsecond || got.PeakWorkingSet != 4120576 {
		t.Errorf("got %+v", got)
	}
	again, err := appipc.ParseTaskState(got.Encode())
	if err != nil || again != got {
		t.Errorf("got %+v %v, want %+v", again, err, got)
	}
}

func FuzzInitData(f *testing.F) {
	f.Add(read(f, "testdata/init_data.xml"))
	f.Add([]byte("<app_init_data><wu_cpu_time>1e300</wu_cpu_time></app_init_data>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := appipc.ParseInitData(b)
		if err != nil {
			return
		}
		if _, err := appipc.ParseInitData(d.Encode()); err != nil {
			t.Errorf("what was read cannot be written and read: %v", err)
		}
	})
}

func FuzzStatus(f *testing.F) {
	f.Add("<current_cpu_time>1.390331e+01</current_cpu_time>\n<fraction_done>5.680473e-01</fraction_done>\n")
	f.Fuzz(func(t *testing.T, text string) {
		st := appipc.ParseStatus(text)
		if st.CPUTime < 0 || st.CheckpointCPUTime < 0 || !(st.FractionDone >= 0 && st.FractionDone <= 1) || st.OtherPID < 0 || st.WorkingSet < 0 {
			t.Errorf("out of range: %+v", st)
		}
		if len(st.Encode()) > appipc.MaxText {
			t.Errorf("too long for its channel: %+v", st)
		}
	})
}

func FuzzSlotFiles(f *testing.F) {
	f.Add([]byte("600\nreason\nnotice\n"))
	f.Add([]byte("<soft_link>../../projects/p/x</soft_link>\n"))
	f.Add(read(f, "testdata/boinc_task_state.xml"))
	f.Fuzz(func(_ *testing.T, b []byte) {
		appipc.ParseFinish(b)
		appipc.ParseTemporaryExit(b)
		appipc.ParseSoftLink(b)
		_, _ = appipc.ParseTaskState(b)
	})
}

// On Windows the memory has a name instead of a key.
func TestInitDataNamesTheMemory(t *testing.T) {
	d := appipc.DefaultInitData()
	d.CommObjName = "boinc_7"
	text := string(d.Encode())
	if !strings.Contains(text, "<comm_obj_name>boinc_7</comm_obj_name>\n") || strings.Contains(text, "shm_key") {
		t.Errorf("got %s", text)
	}
	got, err := appipc.ParseInitData([]byte(text))
	if err != nil || got.CommObjName != "boinc_7" || appipc.SegmentName(got.CommObjName) != "shm_boinc_7" {
		t.Errorf("got %q, %v", got.CommObjName, err)
	}
}
