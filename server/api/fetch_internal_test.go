package api

import (
	"net/netip"
	"testing"
)

func TestPublic(t *testing.T) {
	for _, tt := range []struct {
		ip   string
		want bool
	}{
		{"8.8.8.8", true},
		{"2606:4700::6810:84e5", true},
		{"127.0.0.1", false},
		{"127.8.8.8", false},
		{"::1", false},
		{"::ffff:127.0.0.1", false},
		{"::127.0.0.1", false},
		{"0.0.0.0", false},
		{"::", false},
		{"10.1.2.3", false},
		{"172.16.0.1", false},
		{"192.168.1.1", false},
		{"100.64.0.1", false},
		{"169.254.169.254", false}, // cloud providers serve secrets to their computers there
		{"fd00:ec2::254", false},
		{"fe80::1", false},
		{"64:ff9b::a00:1", false}, // 10.0.0.1 behind a translator
		{"2002:a00:1::1", false},
		{"224.0.0.1", false},
		{"255.255.255.255", false},
	} {
		err := refusePrivate("tcp", netip.AddrPortFrom(netip.MustParseAddr(tt.ip), 80).String(), nil)
		if (err == nil) != tt.want {
			t.Errorf("%s: %v, want public %v", tt.ip, err, tt.want)
		}
	}
}
