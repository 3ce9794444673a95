package executor

import (
	"runtime"
	"slices"
	"strings"
)

// slotMark is set in every application's environment. It tells a process that
// an application left behind from one that a person started in a slot.
const slotMark = "STARLING_SLOT"

// passed are the variables of ours that an application gets: where the system's
// programs are, language and time zone. Others may hold passwords and keys.
var passed = map[string][]string{
	"windows": {
		"PATH", "PATHEXT", "COMSPEC", "OS", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROCESSOR_LEVEL", "PROCESSOR_REVISION",
	},
	"": {"PATH", "LANG", "LANGUAGE", "TZ", "TZDIR"},
}

// own are variables that name the slot: there an application keeps what others
// keep in a person's home.
var own = map[string][]string{
	"windows": {"TEMP", "TMP", "USERPROFILE"},
	"":        {"HOME", "TMPDIR"},
}

// ofUser are what of ours tells a free program where machines and containers of this user are
// kept. They stay when its slot is emptied.
var ofUser = map[string][]string{
	"windows": {"TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"},
	"":        {"HOME", "TMPDIR", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST"},
}

// environment returns that of an application whose slot is dir: of ours what it
// needs and what the volunteer named, and the places where BOINC's applications
// find shared libraries. A free one has its user's places instead of its own, and no mark:
// what it leaves running is not its slot's.
//
// Upstream passes on all of it.
func environment(env, named []string, link, dir string, free bool) []string {
	of := func(m map[string][]string) []string {
		if names, ok := m[runtime.GOOS]; ok {
			return names
		}
		return m[""]
	}
	libraries := []string{link, ".", "../.."}
	got := make([]string, 0, 16)
	pass := slices.Concat(named, of(passed))
	if free {
		pass = append(pass, of(ofUser)...)
	} else {
		got = append(got, slotMark+"="+dir)
		for _, name := range of(own) {
			if !slices.Contains(named, name) {
				got = append(got, name+"="+dir)
			}
		}
	}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name)
		}
		switch {
		case name == "LD_LIBRARY_PATH" && value != "":
			libraries = append(libraries, value)
		case slices.Contains(pass, name), strings.HasPrefix(name, "LC_"):
			got = append(got, v)
		}
	}
	return append(got, "LD_LIBRARY_PATH="+strings.Join(libraries, ":"))
}
