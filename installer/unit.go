package installer

import (
	"path/filepath"
	"strings"
)

// stateRoot is the folder in which systemd stores the data of services.
const stateRoot = "/var/lib"

// SliceName is the slice that the service runs in.
const SliceName = Name + ".slice"

// Slice returns the text of the systemd unit of the service's slice. The slice is at the top level,
// next to the slices of people and of other services. Weights count only among neighbors, so an
// idle weight within system.slice would still give the agent's tasks half of a busy CPU. systemd
// before version 252 does not support the idle weight, and uses the lowest number.
func (s Service) Slice() string {
	return strings.Join([]string{
		"[Unit]",
		"Description=Work that gives way to everything else on this computer",
		"Documentation=man:starling(1)",
		"",
		"[Slice]",
		"CPUWeight=1",
		"CPUWeight=idle",
		"IOWeight=10",
	}, "\n") + "\n"
}

// Unit returns the text of the systemd unit.
//
// The service counts as started after the first iteration of the agent's loop. It is killed and
// started again when the loop hangs for minutes. The agent stops its applications within a minute,
// and systemd ends the remaining ones after that. The unit disables features that projects'
// applications do not need. System calls are not filtered and memory may become executable, because
// the programs come from projects and some compile code while they run. Devices stay visible,
// because the time of the last input at a terminal shows whether the computer is in use. Only GPUs
// can be opened, by their drivers' names in /proc/devices. The control group is delegated to the
// agent, which gives each application a part of it. Other users may pass through the data directory
// to the control socket, where they find out whether they may control the agent. Everything else in
// it is closed to them.
func (s Service) Unit() string {
	var b strings.Builder
	line := func(lines ...string) { b.WriteString(strings.Join(lines, "\n") + "\n") }
	line("[Unit]",
		"Description=Starling volunteer computing agent",
		"Documentation=man:starling(1)")
	if !s.PerUser {
		line("Wants=network-online.target", "After=network-online.target")
	}
	line("StartLimitIntervalSec=10min", "StartLimitBurst=5", "",
		"[Service]",
		"Type=notify",
		"TimeoutStartSec=10min", // a new version may have to convert the state
		"WatchdogSec=4min",
		"ExecStart="+quote(s.Executable)+" run --data "+quote(s.DataDir),
		"Restart=on-failure",
		"RestartSec=10",
		"KillMode=mixed",
		"TimeoutStopSec=90",
		"Slice="+SliceName,
		"Delegate=yes",
		"NoNewPrivileges=yes")
	if s.PerUser {
		line("", "[Install]", "WantedBy=default.target")
		return b.String()
	}
	line("User=" + Name)
	if filepath.Dir(s.DataDir) == stateRoot {
		line("StateDirectory="+filepath.Base(s.DataDir), "StateDirectoryMode=0751")
	} else {
		line("ReadWritePaths=" + quote(s.DataDir))
	}
	line("UMask=0027",
		"CapabilityBoundingSet=",
		"ProtectSystem=strict",
		"ProtectHome=yes",
		"PrivateTmp=yes",
		"DevicePolicy=closed",
		"DeviceAllow=char-drm rw",
		"DeviceAllow=char-kfd rw",
		"DeviceAllow=char-nvidia* rw",
		"ProtectClock=yes",
		"ProtectHostname=yes",
		"ProtectKernelLogs=yes",
		"ProtectKernelModules=yes",
		"ProtectKernelTunables=yes",
		"LockPersonality=yes",
		"RestrictRealtime=yes",
		"RestrictSUIDSGID=yes",
		"", "[Install]", "WantedBy=multi-user.target")
	return b.String()
}

// quote returns a path as one argument, in systemd's syntax.
func quote(path string) string {
	path = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(path)
	if strings.ContainsAny(path, " \t'\"\\;") {
		return `"` + path + `"`
	}
	return path
}
