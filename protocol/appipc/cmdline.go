package appipc

// SplitCommandLine splits a workunit's command line into arguments as BOINC does: at white space,
// except between single or double quotes, which are removed. There are no escape characters. A
// quote that is not closed reaches to the end.
func SplitCommandLine(line string) []string {
	var args []string
	var arg []byte
	var quote byte
	inside := false
	for i := range len(line) {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			arg = append(arg, c)
		case c == '\'' || c == '"':
			quote, inside = c, true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f':
			if inside {
				args = append(args, string(arg))
			}
			arg, inside = arg[:0], false
		default:
			arg, inside = append(arg, c), true
		}
	}
	if inside {
		args = append(args, string(arg))
	}
	return args
}
