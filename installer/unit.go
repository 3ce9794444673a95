package installer

import (
	"path/filepath"
	"strings"
)

// stateRoot is where systemd keeps the data of services.
const stateRoot = "/var/lib"

// SliceName is the slice that the service runs in.
const SliceName = Name + ".slice"

// Slice returns the text of the systemd unit of the service's slice. It stands at the top, next
// to those of people and of other services: weights rank only among neighbors, so that an idle
// weight within system.slice would leave half of a busy CPU to the agent's tasks. A systemd
// before version 252 knows no idle weight, and keeps the lowest number.
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
// The service counts as started when the agent's loop has turned, and it is killed and
// started again when the loop does not turn for minutes.
// The agent stops its applications within a minute, and systemd ends what is left
// after that. What is shut off is what no application of a project has business
// with. System calls are not filtered and memory may become code: the programs are
// other people's, and some compile while they run. Devices stay visible, since
// the age of the last input at a terminal tells whether the computer is in use; of them
// GPUs alone can be opened, by their drivers' names in /proc/devices.
// The control group is the agent's, which gives each application its part of it.
// Others may pass through the data directory, to the control socket, where they are
// told whether they may control it; all else in it is closed to them.
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

// quote makes one argument of a path, in systemd's way.
func quote(path string) string {
	path = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(path)
	if strings.ContainsAny(path, " \t'\"\\;") {
		return `"` + path + `"`
	}
	return path
}
