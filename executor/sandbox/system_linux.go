package sandbox

// System returns the folders and files of the system that programs need to start and to compute:
// libraries, time zones, certificates, and devices that contain no data.
func System() Policy {
	return Policy{
		Read: []string{
			"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/nix", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
			"/etc/alternatives", "/etc/localtime", "/etc/timezone", "/etc/resolv.conf", "/etc/hosts",
			"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/openssl.cnf", "/etc/pki/ca-trust", "/etc/ca-certificates",
			"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/services", "/etc/protocols", "/etc/locale.alias",
			"/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom", "/dev/random",
		},
		Write: []string{"/dev/null", "/dev/zero", "/dev/full"},
	}
}
