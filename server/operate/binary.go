package operate

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/starling-grid/starling/internal/script"
)

// A program is the system and the processor of a program file, as in its header ("": any).
type program struct{ system, machine string }

// Processors. Programs for others are 32-bit ones, which run on most 64-bit computers, or rare.
const amd64, arm64, riscv64 = "x86_64", "aarch64", "riscv64"

// programOf reads the header of a program file. Scripts and unknown formats may run anywhere.
func programOf(head []byte) program {
	number := func(at, size uint32) uint32 {
		var b [4]byte
		if uint64(at)+uint64(size) <= uint64(len(head)) {
			copy(b[:], head[at:at+size])
		}
		return binary.LittleEndian.Uint32(b[:])
	}
	switch {
	case bytes.HasPrefix(head, []byte("\x7fELF")): // source: e_machine in the System V ABI
		return program{"linux", map[uint32]string{62: amd64, 183: arm64, 243: riscv64}[number(18, 2)]}
	case bytes.HasPrefix(head, []byte("MZ")): // source: Microsoft's PE format, "Machine Types"
		return program{"windows", map[uint32]string{0x8664: amd64, 0xaa64: arm64}[number(number(0x3c, 4)+4, 2)]}
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")): // source: mach/machine.h
		return program{"apple", map[uint32]string{0x01000007: amd64, 0x0100000c: arm64}[number(4, 4)]}
	}
	return program{}
}

// fits returns an error if computers of the platform cannot start the file at path: it is a program for another
// system or processor, or a text that the system does not start.
func fits(path, platform string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 4<<10))
	if err != nil {
		return err
	}
	if problem, cure := ofText(head, strings.ToLower(filepath.Ext(path)), platform); problem != "" {
		return fmt.Errorf("%s %s, so that %s cannot start it; %s", path, problem, platform, cure)
	}
	p := programOf(head)
	for _, system := range []string{"linux", "windows", "apple"} {
		if p.system != "" && p.system != system && strings.Contains(platform, system) {
			return fmt.Errorf("%s is a program for %s, not for the platform %s", path, p.system, platform)
		}
	}
	if other := processor(platform); p.machine != "" && other != "" && p.machine != other {
		emulated := p.system != "linux" && p.machine == amd64 && other == arm64
		if !emulated {
			return fmt.Errorf("%s is a program for %s processors, not for the platform %s", path, p.machine, platform)
		}
	}
	return nil
}

// ofText returns the reason why a platform cannot start a text with an extension, and what to do. Both are empty for
// scripts that it can start, for other files and for other platforms.
func ofText(head []byte, ext, platform string) (problem, cure string) {
	switch {
	case strings.Contains(platform, "windows"):
		if isText(head) && ext != ".bat" && ext != ".cmd" {
			return "is a text", "publish a program, or a .bat or .cmd file"
		}
	case !unix(platform):
	case script.ForWindows(head):
		return "is a script whose lines end as on Windows", "convert it, for example with dos2unix"
	case bytes.HasPrefix(head, []byte("\ufeff#!")):
		return "is a script with a byte order mark before its interpreter", "save it without one"
	case isText(head) && script.Interpreter(head) == "":
		return "is a text without an interpreter", "if it is a script, its first line names one, such as #!/bin/sh"
	}
	return "", ""
}

// unix reports whether a platform starts scripts by their first line.
func unix(platform string) bool {
	return strings.Contains(platform, "linux") || strings.Contains(platform, "apple") || strings.Contains(platform, "BSD")
}

// isText reports whether a file that starts with head is a text, such as a script.
func isText(head []byte) bool {
	return len(head) > 0 && !bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !unicode.IsSpace(r) || r == utf8.RuneError })
}

// processor returns the processor that is part of a platform's name, or "".
func processor(platform string) string {
	for part, name := range map[string]string{"x86_64": amd64, "aarch64": arm64, "arm64": arm64, "riscv64": riscv64, "i686": "i686"} {
		if strings.Contains(platform, part) {
			return name
		}
	}
	return ""
}
