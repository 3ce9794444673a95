package filexfer

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io"
)

// ErrChecksum says that a file's content is not what the project described.
var ErrChecksum = errors.New("checksum mismatch")

func md5Of(r io.Reader) (string, error) {
	h := md5.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
