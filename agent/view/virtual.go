package view

import "github.com/starling-grid/starling/protocol"

// virtualization names what may run virtual machines and containers for tasks.
func virtualization(h protocol.HostInfo) (names []string) {
	if h.VirtualBoxVersion != "" {
		names = append(names, "VirtualBox "+h.VirtualBoxVersion)
	}
	switch {
	case h.DockerVersion == "":
	case h.DockerType == protocol.Podman:
		names = append(names, "Podman "+h.DockerVersion)
	default:
		names = append(names, "Docker "+h.DockerVersion)
	}
	return names
}
