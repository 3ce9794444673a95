package agent

import (
	"context"
	"os"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/protocol"
)

// knowVirtualization looks for programs that run virtual machines and containers, if the volunteer
// lets projects use them. It returns why some of them cannot be used.
func (a *Agent) knowVirtualization(ctx context.Context) (unusable []string) {
	s, h := a.core.Settings, &a.core.Host
	if !s.Virtualization || a.cfg.Computer != nil {
		return nil
	}
	if a.cfg.Confine && s.Sandbox && os.Geteuid() == 0 { // its tasks are other users, in the sandbox
		unusable = []string{"The agent runs as root, and lets no task have root's rights. To let projects use virtual machines and containers, run it as an ordinary user."}
	} else {
		v := hostinfo.FindVirtualization(ctx, a.core.Dir)
		h.VirtualBoxVersion, h.DockerVersion, h.DockerType = v.VirtualBox, v.Docker, v.DockerType
		a.rules.Probed = *h
		unusable = v.Unusable
	}
	for _, why := range unusable {
		a.core.Log.Warn("virtual machines or containers cannot be used", "why", why)
	}
	a.core.Log.Info("virtualization allowed", "virtualbox", h.VirtualBoxVersion, "docker", h.DockerVersion, "podman", h.DockerVersion != "" && h.DockerType == protocol.Podman)
	return unusable
}
