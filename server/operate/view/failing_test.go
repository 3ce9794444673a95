package view

import (
	"testing"

	"github.com/starling-grid/starling/server/store"
)

func TestAlarming(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state string
		use   store.VersionUse
		want  bool
	}{
		{"unused", "active", store.VersionUse{}, false},
		{"its first task fails", "active", store.VersionUse{Error: 1}, true},
		{"one of two fails", "active", store.VersionUse{Error: 1, Valid: 1}, false},
		{"one of five is invalid", "active", store.VersionUse{Invalid: 1, Valid: 4}, true},
		{"one of twenty fails", "active", store.VersionUse{Error: 1, Valid: 19}, false},
		{"it is withdrawn", "deprecated", store.VersionUse{Error: 20}, false},
	} {
		if v := (Version{State: tt.state, VersionUse: tt.use}); v.Alarming() != tt.want {
			t.Errorf("%s: alarming is %t", tt.name, !tt.want)
		}
	}
	v := Version{App: "ice", VersionNum: 104, Platform: "windows_x86_64", PlanClass: "avx2", VersionUse: store.VersionUse{Error: 1, Invalid: 2, Valid: 1997}}
	if got := v.Alarm(); got != "ice 1.04 (avx2) for windows_x86_64 fails on 0.1 % of its tasks (3 of 2,000)" {
		t.Errorf("got %s", got)
	}
}
