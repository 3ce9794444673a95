package view

import (
	"fmt"

	"github.com/starling-grid/starling/protocol"
)

// FileFailure returns the reason why a computer could not have a file, from the error number that
// it reported, or "" if the number is not an error.
func FileFailure(status int64) string {
	why := ""
	switch {
	case status >= 0:
		return ""
	case status == protocol.ErrNumFileTooBig:
		why = "the file is larger than it may be, or than its volunteer allows the project to store"
	case status == protocol.ErrNumMD5:
		why = "the downloaded file has another checksum"
	case status == protocol.ErrNumWrongSize:
		why = "the downloaded file has another size"
	case status == protocol.ErrNumPermanentHTTP:
		why = "it was denied the download, or there is no such file in download/"
	case status == protocol.ErrNumSignature, status == protocol.ErrNumNoSignature:
		why = "the file's signature is missing or wrong"
	default:
		why = "the computer could not have the file"
	}
	return fmt.Sprintf("%s (%d)", why, status)
}
