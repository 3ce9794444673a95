package protocol_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/starling-grid/starling/protocol"
)

// The descriptions of containers and virtual machines by BOINC's clients on Windows and on other
// systems.
func TestVirtualMachinesOfAHost(t *testing.T) {
	for _, tt := range []struct {
		name, xml string
		want      protocol.HostInfo
	}{
		{
			"Linux", "<virtualbox_version>7.0.20_Debianr163906</virtualbox_version><docker_version>5.4.2</docker_version><docker_type>2</docker_type>",
			protocol.HostInfo{VirtualBoxVersion: "7.0.20_Debianr163906", DockerVersion: "5.4.2", DockerType: protocol.Podman},
		},
		{"a type that nobody knows", "<docker_version>5</docker_version><docker_type>77</docker_type>", protocol.HostInfo{DockerVersion: "5"}},
		{"neither", "<p_vm_extensions_disabled>1</p_vm_extensions_disabled>", protocol.HostInfo{VMExtensionsDisabled: true}},
		{
			"Windows", `<wsl>
        <distro><distro_name>no</distro_name><disallowed/><docker_version>1.0</docker_version><docker_type>1</docker_type></distro>
        <distro><distro_name>none</distro_name></distro>
        <distro><distro_name>boinc-buda-runner</distro_name><docker_version>4.9.3</docker_version><docker_type>2</docker_type></distro>
        <distro><distro_name>later</distro_name><docker_version>24.0.7</docker_version><docker_type>1</docker_type></distro></wsl>`,
			protocol.HostInfo{DockerVersion: "4.9.3", DockerType: protocol.Podman},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := protocol.ParseSchedulerRequest([]byte("<scheduler_request><host_info>" + tt.xml + "</host_info></scheduler_request>"))
			if err != nil || !reflect.DeepEqual(r.Host, tt.want) {
				t.Fatalf("got %+v, %v", r.Host, err)
			}
			again, err := protocol.ParseSchedulerRequest(r.Encode())
			if err != nil || !reflect.DeepEqual(again.Host, tt.want) {
				t.Errorf("written and read again: %+v, %v", again.Host, err)
			}
		})
	}
	r, err := protocol.ParseSchedulerRequest([]byte("<scheduler_request><dont_use_docker/></scheduler_request>"))
	if err != nil || !r.DontUseDocker || !strings.Contains(string(r.Encode()), "<dont_use_docker/>") {
		t.Errorf("%+v, %v", r, err)
	}
}
