package session

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var anna = Person{UID: 1000, Name: "anna"}

// joined is the number of a helper that has reported.
func joined(t *testing.T, r *Roster, p Person, report Report, now time.Time) int {
	t.Helper()
	id, err := r.join(p.UID)
	if err != nil {
		t.Fatal(err)
	}
	r.note(id, p, report, now)
	return id
}

// The least time without input of all sessions counts, and each is described.
func TestTheLeastIdleSessionCounts(t *testing.T) {
	var r Roster
	now := time.Now()
	if _, _, ok := r.Idle(now); ok {
		t.Error("an empty roster has an answer")
	}
	if _, err := r.join(1001); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := r.Idle(now); ok {
		t.Error("a helper counts before its first report")
	}
	bob := joined(t, &r, Person{UID: 1002, Name: "bob", Remote: true}, Report{Idle: 60, Source: "X11"}, now)
	joined(t, &r, anna, Report{Idle: 240, Source: "Wayland"}, now)
	idle, by, ok := r.Idle(now.Add(time.Second))
	if idle != 61*time.Second || by != "the helper in the session of bob (X11, remote)" || !ok {
		t.Errorf("got %v, %s, %v", idle, by, ok)
	}
	r.leave(bob)
	if want := []string{"the helper in the session of anna (Wayland), idle for 4 min"}; !slices.Equal(r.Lines(now), want) {
		t.Errorf("got %q", r.Lines(now))
	}
}

// A helper that does not report any more is forgotten.
func TestADeadHelperIsForgotten(t *testing.T) {
	var r Roster
	now := time.Now()
	id := joined(t, &r, anna, Report{Source: "Wayland"}, now)
	if _, _, ok := r.Idle(now.Add(lifetime)); !ok {
		t.Error("forgotten too early")
	}
	if _, _, ok := r.Idle(now.Add(lifetime + 1)); ok {
		t.Error("not forgotten")
	}
	r.leave(id)
	r.note(id, anna, Report{Source: "Wayland"}, now)
	if _, _, ok := r.Idle(now); ok {
		t.Error("a helper that has left still reports")
	}
}

// A locked screen counts as idle since it was locked, whatever is typed there.
func TestALockedScreen(t *testing.T) {
	var r Roster
	now := time.Now()
	id := joined(t, &r, anna, Report{Idle: 5, Source: "Wayland"}, now)
	expect := func(what string, after, want time.Duration) {
		t.Helper()
		if got, _, _ := r.Idle(now.Add(after)); got != want {
			t.Errorf("%s: idle for %v, want %v", what, got, want)
		}
	}
	r.note(id, anna, Report{Idle: 0, Locked: true, Source: "Wayland"}, now)
	expect("just locked", 0, 0)
	r.note(id, anna, Report{Idle: 0, Locked: true, Source: "Wayland"}, now.Add(time.Minute))
	expect("input at the lock", time.Minute, time.Minute)
	if lines := r.Lines(now.Add(time.Minute)); !strings.Contains(lines[0], "(Wayland, locked), idle for 1 min") {
		t.Errorf("got %q", lines)
	}
	r.note(id, anna, Report{Idle: 0, Source: "Wayland"}, now.Add(time.Minute))
	expect("unlocked", time.Minute, 0)
	r.note(id, anna, Report{Idle: 600, Locked: true, Source: "Wayland"}, now)
	expect("locked long after the last input", 0, 10*time.Minute)
}

// Of fifty helpers of one user a few count, and of all users as many as are seats.
func TestManyHelpers(t *testing.T) {
	var r Roster
	for i := range 50 {
		if _, err := r.join(1000); (err == nil) != (i < maxPerUser) {
			t.Errorf("helper %d: %v", i, err)
		}
	}
	for uid := range 100 {
		if _, err := r.join(uid); (err == nil) != (uid < maxHelpers-maxPerUser) {
			t.Errorf("user %d: %v", uid, err)
		}
	}
	if len(r.helpers) != maxHelpers {
		t.Errorf("%d helpers", len(r.helpers))
	}
}

// Only users in logind's list may report.
func TestWhoMayReport(t *testing.T) {
	all := []login{
		{ID: "2", UID: 1000, Seat: "seat0"}, {ID: "3", UID: 1000}, {ID: "4", UID: 1001}, {ID: "5", UID: 1002}, {ID: "c1", UID: 1003, Seat: "seat1"},
	}
	class := func(l login) string {
		if l.ID == "5" {
			return "background"
		}
		return "user"
	}
	for _, tt := range []struct {
		name     string
		uid      int
		session  string
		ok, here bool
	}{
		{"at the screen", 1000, "2", true, true},
		{"at the screen, without a name of the session", 1000, "", true, true},
		{"remote, of a user who is at the screen, too", 1000, "3", true, false},
		{"remote", 1001, "4", true, false},
		{"with the name of another's session", 1001, "2", true, false},
		{"a job of the system", 1002, "5", false, false},
		{"at another seat", 1003, "c1", true, true},
		{"not logged in", 33, "2", false, false},
	} {
		p, err := admit(Person{UID: tt.uid, Name: "somebody"}, tt.session, all, class)
		if (err == nil) != tt.ok || err == nil && p.Remote == tt.here {
			t.Errorf("%s: got %+v, %v", tt.name, p, err)
		}
		if err != nil && !strings.Contains(err.Error(), "run the helper in a desktop session") {
			t.Errorf("%s: a refusal without a cure: %v", tt.name, err)
		}
	}
}

// Reports of this version alone are read.
func TestReports(t *testing.T) {
	for text, want := range map[string]string{
		`{"v":1,"idle":12.5,"source":"Wayland","session":"c2"}`:      "",
		`{"v":1,"idle":0,"locked":true,"source":"KDE screen saver"}`: "",
		``:                        "not valid",
		`{"v":1,"idle":12.5,"sou`: "not valid",
		`GET / HTTP/1.1`:          "not valid",
		`{"v":1,"idle":12.5,"source":"Wayland"}{}`:                        "after its end",
		`{"v":2,"idle":12.5,"source":"Wayland"}`:                          "version 2",
		`{"v":1,"idle":-1,"source":"Wayland"}`:                            "time without input",
		`{"v":1,"idle":1e300,"source":"Wayland"}`:                         "time without input",
		`{"v":1,"idle":1e400,"source":"Wayland"}`:                         "not valid",
		`{"v":1,"idle":1,"source":"","session":""}`:                       "name",
		`{"v":1,"idle":1,"source":"\u001b[31mred"}`:                       "name",
		`{"v":1,"idle":1,"source":"X11","session":"../../etc"}`:           "name",
		`{"v":1,"idle":1,"source":"X11","mode":"never"}`:                  "not valid",
		`{"v":1,"idle":1,"source":"` + strings.Repeat("x", 600) + `"}`:    "longer than",
		`[{"v":1,"idle":1,"source":"X11"}]`:                               "not valid",
		`{"v":1,"idle":"1","source":"X11"}`:                               "not valid",
		"{\"v\":1,\"idle\":1,\"source\":\"X11\"}\n":                       "",
		`{"v":1,"idle":1,"source":"X11","locked":"yes","session":"seat"}`: "not valid",
	} {
		_, err := parse([]byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %v, want %q", text, err, want)
		}
	}
}

// No report makes a computer look idle for longer than years, or breaks the agent.
func FuzzReport(f *testing.F) {
	f.Add([]byte(`{"v":1,"idle":12.5,"locked":true,"source":"Wayland","session":"c2"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		report, err := parse(b)
		if err != nil {
			return
		}
		var r Roster
		id, _ := r.join(1)
		r.note(id, anna, report, time.Now())
		if idle, _, ok := r.Idle(time.Now()); !ok || idle < 0 || idle > longest+time.Minute {
			t.Errorf("%q: %v, %v", b, idle, ok)
		}
	})
}
