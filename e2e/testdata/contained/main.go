// Contained is the only program in the container of a test's tasks. It writes its input in
// capitals, and lists the other files at the top of its file system.
package main

import (
	"bytes"
	"fmt"
	"os"
)

func main() {
	text, err := os.ReadFile("in")
	if err == nil {
		out := bytes.ToUpper(text)
		for _, name := range []string{"/home", "/usr", "/var"} {
			if _, err := os.Stat(name); err == nil {
				out = fmt.Appendf(out, " and %s", name)
			}
		}
		err = os.WriteFile("out", out, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
