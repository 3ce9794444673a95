package words

import "strings"

// Shell returns a word as it is written in a command for a shell, quoted if need be.
func Shell(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"$`\\&;()<>|*?[]#~!{}") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
