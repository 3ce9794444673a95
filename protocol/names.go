package protocol

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const maxName = 255 // bytes, of names and URLs

// CanonicalMasterURL returns the form in which a project's master URL is compared and stored:
// scheme http or https, lower-case host, single slashes, a final slash. It refuses URLs that
// BOINC's clients refuse, with a *URLError, so that all of them can attach to a project with such a URL.
func CanonicalMasterURL(s string) (string, error) {
	s = strings.TrimSpace(s)
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case !ok:
		scheme, rest = "http", s
	case strings.EqualFold(scheme, "https"):
		scheme = "https"
	case strings.EqualFold(scheme, "http"):
		scheme = "http"
	default:
		return "", badURL(s, "want http:// or https://", "")
	}
	rest = strings.TrimLeft(rest, "/")
	for strings.Contains(rest, "//") {
		rest = strings.ReplaceAll(rest, "//", "/")
	}
	if !strings.HasSuffix(rest, "/") {
		rest += "/"
	}
	host, path, _ := strings.Cut(rest, "/")
	if i := strings.IndexByte(host, '.'); i < 1 || i == len(host)-1 {
		return "", badURL(s, "the host needs a dot for BOINC's clients (127.0.0.1 rather than localhost)", "")
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		if n, err := strconv.ParseUint(host[i+1:], 10, 16); err != nil || n == 0 {
			return "", badURL(s, "the port is not a number from 1 to 65535", "")
		}
	}
	for _, c := range rest {
		if c <= ' ' || c >= 0x7f || strings.ContainsRune("<>\"'`\\", c) {
			return "", badURL(s, "character {value} is not allowed", strconv.QuoteRune(c))
		}
	}
	if strings.ContainsAny(rest, "?#@") {
		return "", badURL(s, "a query, fragment or user name is not part of it", "")
	}
	u := scheme + "://" + strings.ToLower(host) + "/" + path
	if len(u) > maxName {
		return "", fmt.Errorf("master URL of %d bytes is too long (at most %d)", len(u), maxName)
	}
	return u, nil
}

// A URLError is the fault of an address that cannot be a master URL.
type URLError struct {
	URL   string // quoted, and shortened if it is long
	Fault string // in which {value} is the place of Value
	Value string
}

func (e *URLError) Error() string {
	return "master URL " + e.URL + ": " + strings.ReplaceAll(e.Fault, "{value}", e.Value)
}

func badURL(s, fault, value string) error {
	return &URLError{fmt.Sprintf("%.100q", s), fault, value}
}

// EscapeURL turns a master URL into the name of the project's folder and files: the URL without
// scheme, with '_' for every byte except letters, digits, '.', '-' and '_', and without one
// trailing '_'. http and https give the same name, as in BOINC.
func EscapeURL(masterURL string) string {
	_, rest, ok := strings.Cut(masterURL, "://")
	if !ok {
		rest = masterURL
	}
	b := []byte(rest)
	for i, c := range b {
		alnum := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !alnum && c != '.' && c != '-' && c != '_' {
			b[i] = '_'
		}
	}
	return strings.TrimSuffix(string(b), "_")
}

// ErrFileName marks a file name that must not be used.
var ErrFileName = errors.New("bad file name")

// ValidFileName checks a physical or logical file name that a peer has sent. It refuses names that
// BOINC's client ignores (empty, "..", "%"), separators, control characters, names that denote
// a device or stream on Windows, and names of files that only the volunteer or the client may write to
// a project's folder.
func ValidFileName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: it is empty", ErrFileName)
	case len(name) > maxName:
		return fmt.Errorf("%w: %d bytes is too long (at most %d)", ErrFileName, len(name), maxName)
	case strings.Contains(name, "..") || name == ".":
		return fmt.Errorf("%w %q: dots that lead elsewhere", ErrFileName, name)
	}
	for _, c := range []byte(name) {
		if c < ' ' || c == 0x7f || strings.IndexByte(`/\%:*?"<>|`, c) >= 0 {
			return fmt.Errorf("%w %q: character %q", ErrFileName, name, c)
		}
	}
	if name[0] == ' ' || name[len(name)-1] == ' ' || name[len(name)-1] == '.' {
		return fmt.Errorf("%w %q: blank or dot at an end", ErrFileName, name)
	}
	lower := strings.ToLower(name) // some file systems ignore case
	if lower == AppInfoFile || strings.HasPrefix(lower, trickleUpPrefix) && strings.HasSuffix(lower, ".xml") {
		return fmt.Errorf("%w %q: it is reserved for a file of the client", ErrFileName, name)
	}
	return nil
}

// trickleUpPrefix starts the names of files with messages of applications, see appipc.TrickleName.
const trickleUpPrefix = "trickle_up_"

// DirHash returns the subdirectory in which a server stores a file: hex digits 2 to 8 of the MD5 of
// its name, modulo fanout, in hex. With fanout 0 it returns "".
func DirHash(name string, fanout int) string {
	if fanout <= 0 {
		return ""
	}
	sum := md5.Sum([]byte(name))
	n, err := strconv.ParseUint(hex.EncodeToString(sum[:])[1:8], 16, 32)
	if err != nil {
		panic(err) // seven hex digits
	}
	return strconv.FormatUint(n%uint64(fanout), 16)
}
