package httpclient

import (
	"errors"
	"net/http"
	"strings"
)

// Errors for answers that are not the expected ones.
var (
	// ErrPage means that a web page arrived instead of the expected answer.
	ErrPage = errors.New("the reply is a web page, perhaps a network login page or a maintenance notice")
	// ErrUnusable means that the answer was not understood.
	ErrUnusable = errors.New("unusable reply")
)

// Head is the number of bytes by which IsPage decides.
const Head = 512

// IsPage reports whether an answer that begins with head is a web page, whatever type it declares.
func IsPage(head []byte) bool {
	return strings.HasPrefix(http.DetectContentType(head), "text/html")
}
