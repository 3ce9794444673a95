package settings_test

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// The agent can read its own files. Whatever tools, account managers and projects send, a file is
// written and read back as the same, or it is not written, for a reason, and the previous values
// stay in effect.

var wildTexts = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "a", "\x00", "\"", `\`, "'''", "\"\"\"", "\n[x]\n", "\r", "\xff\xfe", "\x1b]52;c;x\a", "\u2028", "# no", "k = 1", "\ufeff"}),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
)

var wildNumbers = rapid.OneOf(
	rapid.Float64(),
	rapid.SampledFrom([]float64{0, 1, -1, 100, 1e6, 1e6 + 1, 1e308, -1e308, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)}),
)

var wildInts = rapid.OneOf(rapid.Int(), rapid.SampledFrom([]int{0, 1, -1, 100, math.MaxInt, math.MinInt}))

func perhaps[T any](t *rapid.T, g *rapid.Generator[T], name string) *T {
	if rapid.Bool().Draw(t, name+"?") {
		v := g.Draw(t, name)
		return &v
	}
	return nil
}

func TestAccountsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, url := t.TempDir(), "http://p.example/"
		wild := settings.Account{
			MasterURL:     rapid.OneOf(rapid.Just(url), wildTexts, rapid.Map(wildTexts, func(s string) string { return "http://p.example/" + s + "/" })).Draw(rt, "url"),
			Authenticator: protocol.Authenticator(rapid.OneOf(rapid.Just("1_a"), wildTexts).Draw(rt, "key")), ResourceShare: wildNumbers.Draw(rt, "share"),
		}
		err := settings.WriteAccount(d, wild)
		good, bad, errRead := settings.LoadAccounts(d)
		switch {
		case errRead != nil || len(bad) > 0:
			rt.Fatalf("written %+v (%v), and not read: %v", wild, err, errRead)
		case err == nil && (len(good) != 1 || good[0].MasterURL != wild.MasterURL || good[0].Authenticator != wild.Authenticator || good[0].ResourceShare != wild.ResourceShare):
			rt.Fatalf("written %+v, read %+v", wild, good)
		case err != nil && len(good) > 0:
			rt.Fatalf("refused (%v), and there all the same: %+v", err, good)
		}
	})
}

func TestOverridesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, url := t.TempDir(), "http://p.example/"
		if err := settings.WriteAccount(d, settings.Account{MasterURL: url, Authenticator: "1_a", ResourceShare: 100}); err != nil {
			rt.Fatal(err)
		}
		before, _, _ := settings.LoadAccounts(d)
		o := settings.Override{
			ResourceShare: perhaps(rt, wildNumbers, "share"), NoMoreWork: perhaps(rt, rapid.Bool(), "no more"), Suspended: perhaps(rt, rapid.Bool(), "suspended"),
			MaxConcurrent: perhaps(rt, wildInts, "most"),
		}
		for range rapid.IntRange(0, 3).Draw(rt, "apps") {
			o.Apps = append(o.Apps, settings.App{
				Name: wildTexts.Draw(rt, "name"), MaxConcurrent: wildInts.Draw(rt, "most of app"), AvgNCPUs: wildNumbers.Draw(rt, "cpus"), Cmdline: wildTexts.Draw(rt, "cmdline"),
			})
		}
		if rapid.Bool().Draw(rt, "manager") {
			o.Manager = &settings.Managed{
				URL: wildTexts.Draw(rt, "manager url"), Authenticator: protocol.Authenticator(wildTexts.Draw(rt, "manager key")),
				ResourceShare: perhaps(rt, wildNumbers, "manager share"), DetachWhenDone: rapid.Bool().Draw(rt, "done"),
			}
		}
		err := settings.ChangeAccount(d, url, func(w *settings.Override) { *w = o })
		good, _, errRead := settings.LoadAccounts(d)
		if errRead != nil || len(good) != 1 {
			rt.Fatalf("written %+v (%v), and not read: %v", o, err, errRead)
		}
		a := good[0]
		if err != nil {
			if !reflect.DeepEqual(good, before) {
				rt.Fatalf("refused (%v), and changed: %+v", err, a)
			}
			return
		}
		same := o.ResourceShare == nil || a.ResourceShare == *o.ResourceShare
		same = same && (o.MaxConcurrent == nil || a.MaxConcurrent == *o.MaxConcurrent) && len(a.Apps) == len(o.Apps)
		for i := range a.Apps {
			same = same && a.Apps[i] == o.Apps[i]
		}
		if m := o.Manager; m != nil {
			same = same && a.Manager != nil && a.Manager.URL == m.URL && a.Manager.Authenticator == m.Authenticator
		}
		if !same {
			rt.Fatalf("written %+v, read %+v", o, a)
		}
	})
}

func TestSettingsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := t.TempDir()
		var want settings.Settings
		err := settings.ChangeSettings(d, func(s *settings.Settings) {
			s.NCPUs, s.MaxFileXfers = wildInts.Draw(rt, "cpus"), rapid.OneOf(rapid.IntRange(1, 100), wildInts).Draw(rt, "xfers")
			s.DeviceName, s.Proxy = wildTexts.Draw(rt, "name"), rapid.OneOf(rapid.Just(""), wildTexts).Draw(rt, "proxy")
			s.ExclusiveApps, s.NoProxy = rapid.SliceOfN(wildTexts, 0, 3).Draw(rt, "programs"), rapid.SliceOfN(wildTexts, 0, 3).Draw(rt, "no proxy")
			s.LogFlags[rapid.SampledFrom([]string{"task", "rr_simulation", "\n", "unknown", ""}).Draw(rt, "flag")] = rapid.Bool().Draw(rt, "on")
			for range rapid.IntRange(0, 2).Draw(rt, "kinds") {
				s.Coprocs = append(s.Coprocs, settings.Coproc{Type: rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind"), Count: rapid.IntRange(0, 2).Draw(rt, "count")})
			}
			want = *s
		})
		got, errRead := settings.Load(d)
		if errRead != nil {
			rt.Fatalf("written (%v), and not read: %v", err, errRead)
		}
		if err != nil {
			want = settings.Default()
		}
		if got.NCPUs != want.NCPUs || got.DeviceName != want.DeviceName || got.Proxy != want.Proxy || len(got.ExclusiveApps) != len(want.ExclusiveApps) || len(got.NoProxy) != len(want.NoProxy) || len(got.Coprocs) != len(want.Coprocs) {
			rt.Fatalf("%v: got %+v, want %+v", err, got, want)
		}
		for i := range got.ExclusiveApps {
			if got.ExclusiveApps[i] != want.ExclusiveApps[i] {
				rt.Fatalf("got %q, want %q", got.ExclusiveApps, want.ExclusiveApps)
			}
		}
	})
}

func TestPrefsAreReadAsTheyWereWritten(t *testing.T) {
	names := []string{"unknown", "\n", ""}
	for _, k := range prefs.Keys() {
		names = append(names, k.Name)
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := t.TempDir()
		l := prefs.Layer{Values: make(map[string]float64), Days: make(map[time.Weekday]prefs.Day)}
		for range rapid.IntRange(0, 3).Draw(rt, "values") {
			l.Values[rapid.SampledFrom(names).Draw(rt, "key")] = rapid.OneOf(wildNumbers, rapid.Float64Range(0, 1)).Draw(rt, "value")
		}
		for range rapid.IntRange(0, 2).Draw(rt, "days") {
			hour := rapid.OneOf(wildNumbers, rapid.Float64Range(0, 24))
			l.Days[time.Weekday(rapid.IntRange(-1, 7).Draw(rt, "day"))] = prefs.Day{StartHour: hour.Draw(rt, "start"), EndHour: hour.Draw(rt, "end")}
		}
		err := settings.WritePrefsOverride(d, l)
		file := filepath.Join(d, settings.PrefsOverrideFile)
		if err != nil || len(l.Values)+len(l.Days) == 0 {
			if _, errRead := prefs.Parse(file, nil, ""); errRead != nil {
				rt.Fatal(errRead)
			}
			return
		}
		got, errRead := prefs.Parse(file, []byte(read(t, file)), "")
		if errRead != nil || !reflect.DeepEqual(got.Values, l.Values) || len(got.Days) != len(l.Days) {
			rt.Fatalf("written %+v, read %+v, %v", l, got, errRead)
		}
	})
}

// Preferences of a web site, a manager or a tool, as XML, become ones that can be
// written, or an error.
func TestForeignPrefsCanBeWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		src := ""
		for range rapid.IntRange(0, 4).Draw(rt, "elements") {
			name := rapid.SampledFrom(prefs.Keys()).Draw(rt, "key").Name
			src += "<" + name + ">" + rapid.OneOf(wildTexts, rapid.SampledFrom([]string{"nan", "1e308", "-1", "0x7f", "1e999"})).Draw(rt, "value") + "</" + name + ">"
		}
		if rapid.Bool().Draw(rt, "day") {
			src += "<day_prefs><day_of_week>" + rapid.SampledFrom([]string{"0", "6", "7", "-1"}).Draw(rt, "weekday") + "</day_of_week><start_hour>" +
				rapid.SampledFrom([]string{"1", "-5", "1e308", "24.5"}).Draw(rt, "hour") + "</start_hour></day_prefs>"
		}
		l, _, err := prefs.ParseXML("x", src, "", rapid.Bool().Draw(rt, "complete"))
		if err != nil {
			return
		}
		if err := settings.WritePrefsOverride(t.TempDir(), l); err != nil {
			rt.Fatalf("%q: %v", src, err)
		}
	})
}
