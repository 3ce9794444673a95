package operate

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// fits returns an error if the file at path is a program for another system or processor than the
// platform's. Scripts and unknown formats may run anywhere.
func fits(path, platform string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, 20)
	if _, err := io.ReadFull(f, head); err != nil {
		return nil //nolint:nilerr // it is too short for a program of any of these formats
	}
	system, machine := "", ""
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		system = "linux"
		// Source: e_machine in the System V ABI. 32-bit programs run on most 64-bit computers.
		machine = map[byte]string{62: "x86_64", 183: "aarch64", 243: "riscv64"}[head[18]]
	case bytes.HasPrefix(head, []byte("MZ")):
		system = "windows"
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		system = "apple"
	default:
		return nil
	}
	for _, other := range []string{"linux", "windows", "apple"} {
		if other != system && strings.Contains(platform, other) {
			return fmt.Errorf("%s is a program for %s, not for the platform %s", path, system, platform)
		}
	}
	for _, other := range []string{"x86_64", "aarch64", "riscv64", "i686"} {
		if machine != "" && other != machine && strings.HasPrefix(platform, other) {
			return fmt.Errorf("%s is a program for %s processors, not for the platform %s", path, machine, platform)
		}
	}
	return nil
}
