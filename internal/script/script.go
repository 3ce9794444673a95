// Package script reads the first line of a script, in which Unix systems find its interpreter.
package script

import "bytes"

// Longest is the number of bytes of a file in which that line is looked for, as on Linux.
const Longest = 256

// Interpreter returns the interpreter of the script whose content starts with head, as Unix systems read it, or
// "" if the content is not a script. No file has a name that ends with a carriage return: the lines of such a
// script end as on Windows.
func Interpreter(head []byte) string {
	line, _, _ := bytes.Cut(head[:min(len(head), Longest)], []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	name, _, _ := bytes.Cut(bytes.TrimLeft(rest, " \t"), []byte(" "))
	name, _, _ = bytes.Cut(name, []byte("\t"))
	return string(name)
}

// ForWindows reports whether the lines of the script with an interpreter end as on Windows, with a carriage
// return, which Unix systems take for a part of the last word.
func ForWindows(head []byte) bool {
	line, _, ok := bytes.Cut(head[:min(len(head), Longest)], []byte("\n"))
	return ok && bytes.HasPrefix(line, []byte("#!")) && bytes.HasSuffix(line, []byte("\r"))
}
