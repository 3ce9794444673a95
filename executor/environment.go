package executor

import (
	"runtime"
	"slices"
	"strings"
)

// slotMark is a variable in every application's environment. It distinguishes a process that an
// application left behind from one that a person started in a slot.
const slotMark = "STARLING_SLOT"

// passed lists the variables of the agent that an application gets: the paths of the system's
// programs, the language and the time zone. Others may contain passwords and keys.
var passed = map[string][]string{
	"windows": {
		"PATH", "PATHEXT", "COMSPEC", "OS", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER", "PROCESSOR_LEVEL", "PROCESSOR_REVISION",
	},
	"": {"PATH", "LANG", "LANGUAGE", "TZ", "TZDIR"},
}

// own lists the variables that are set to the slot, so that applications store their files there
// instead of in a person's home directory.
var own = map[string][]string{
	"windows": {"TEMP", "TMP", "USERPROFILE"},
	"":        {"HOME", "TMPDIR"},
}

// ofUser lists the variables of the agent that show a free program where this user's virtual
// machines and containers are kept. Those are not deleted when the slot is emptied.
var ofUser = map[string][]string{
	"windows": {"TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"},
	"":        {"HOME", "TMPDIR", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST"},
}

// environment returns the environment of an application whose slot is dir: the agent's variables
// that it needs, those that the volunteer named, and the paths where BOINC's applications find
// shared libraries. A free program gets its user's directories instead of the slot, and no mark,
// because the processes that it leaves running do not belong to the slot.
//
// Upstream passes on all variables.
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
