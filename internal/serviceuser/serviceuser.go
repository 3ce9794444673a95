// Package serviceuser names the account that Windows gives to a service. The account is created
// with the service, has no password, has only the rights that are granted to it by name, and cannot
// be used by another program.
//
// The package neither installs anything nor asks the system.
package serviceuser

import (
	"crypto/sha1" //nolint:gosec // Windows names accounts by it
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Account returns the name of a service's account.
func Account(service string) string { return `NT SERVICE\` + service }

// SID returns the security identifier of a service's account. It follows from the
// service's name, whose case does not matter, so it is known before there is a service.
//
// Source: Microsoft, "Well-known SIDs": S-1-5-80 and the SHA-1 of the name in upper case,
// as UTF-16, in five words. "sc showsid NAME" prints it.
func SID(service string) string {
	var name []byte
	for _, c := range utf16.Encode([]rune(strings.ToUpper(service))) {
		name = binary.LittleEndian.AppendUint16(name, c)
	}
	sum := sha1.Sum(name)
	var words [5]any
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(sum[4*i:])
	}
	return fmt.Sprintf("S-1-5-80-%d-%d-%d-%d-%d", words[:]...)
}
