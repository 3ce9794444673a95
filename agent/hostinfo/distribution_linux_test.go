package hostinfo

import "testing"

func TestDescribeOS(t *testing.T) {
	const debianRelease = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\nVERSION=\"12 (bookworm)\"\nVERSION_CODENAME=bookworm\nID=debian\n"
	for _, tt := range []struct {
		name           string
		kernel         string
		d              distribution
		libc           string
		osName, wanted string
	}{
		{
			"lsb_release is installed", "6.1.0-31-amd64",
			parseLSBRelease("Distributor ID:\tDebian\nDescription:\tDebian GNU/Linux 12 (bookworm)\nRelease:\t12\nCodename:\tbookworm\n"),
			parseLdd("ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\nCopyright"),
			"Linux Debian", "Debian GNU/Linux 12 (bookworm) [6.1.0-31-amd64|libc 2.36]",
		},
		{
			"os-release alone", "6.1.0", parseOSRelease(debianRelease), "2.36",
			"Linux Debian GNU/Linux", "Debian GNU/Linux 12 (bookworm) [6.1.0|libc 2.36]",
		},
		{
			"a name for people is missing", "6.1.0", parseOSRelease("NAME='Half \\\"a\\\" Linux'\nVERSION=3\n"), "2.40",
			`Linux Half "a" Linux`, `Half "a" Linux 3 [6.1.0|libc 2.40]`,
		},
		{"another C library", "6.6.0", parseOSRelease("NAME=Alpine\nPRETTY_NAME=\"Alpine Linux v3.20\"\n"), parseLdd("musl libc (x86_64)\n"), "Linux Alpine", "Alpine Linux v3.20 [6.6.0]"},
		{"nothing but the kernel", "6.6.0", distribution{}, "", "Linux", "6.6.0"},
		{"the kernel and the C library", "6.6.0", parseOSRelease(""), "2.31", "Linux", "6.6.0 [libc 2.31]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			name, version := describeOS(tt.kernel, tt.d, tt.libc)
			if name != tt.osName || version != tt.wanted {
				t.Errorf("got %q, %q; want %q, %q", name, version, tt.osName, tt.wanted)
			}
		})
	}
}

func TestParseCPUInfo(t *testing.T) {
	const amd = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD  EPYC\nstepping\t: 1\ncache size\t: 1024 KB\nflags\t\t: fpu vme\n\n" +
		"processor\t: 1\nvendor_id\t: other\nmodel name\t: other\n"
	const arm = "processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd08\nCPU revision\t: 3\n\nHardware\t: BCM2835\n"
	for _, tt := range []struct {
		name, text string
		want       processor
	}{
		{"x86", amd, processor{"AuthenticAMD", "AMD EPYC [Family 25 Model 17 Stepping 1]", "fpu vme", 1 << 20, ""}},
		{"stepping 0", "model name\t: X\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 0\n", processor{model: "X [Family 6 Model 85 Stepping 0]"}},
		{"ARM", arm, processor{"", "BCM2835 [Impl 0x41 Arch 8 Variant 0x0 Part 0xd08 Rev 3]", "fp asimd", 0, "BCM2835"}},
		{"nothing", "", processor{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseCPUInfo(tt.text); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
