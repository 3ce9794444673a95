package executor

import "testing"

func TestNamesThatWindowsForbids(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"in": false, "in.txt": false, ".hidden": false, "console": false, "com": false, "com10": false, "lpt": false,
		"auxiliary.dat": false, "a.con": false, "in 1": false, "COM": false, "ä.txt": false,
		"con": true, "CON.txt": true, "nul": true, "Aux.tar.gz": true, "prn ": true, "con .txt": true, "com1": true, "LPT9.log": true,
		"com¹": true, "conin$": true, "in.": true, "in ": true, "in:stream": true, "a<b": true, "a?": true, "a*": true, "a|b": true, `a"b`: true,
	} {
		if got := forbiddenOnWindows(name); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}
