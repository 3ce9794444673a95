package filexfer

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
)

// ErrChecksum means that a file's content does not match the project's description.
var ErrChecksum = errors.New("checksum mismatch")

func md5Of(r io.Reader) (string, error) {
	h := md5.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
