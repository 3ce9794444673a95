//go:build !wasip1

package boincapi

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/starling-grid/starling/protocol/appipc"
)

// resolve follows the soft link in the working directory, if there is one. Only a regular
// file can be one, and to open a named pipe would wait for another program.
func resolve(logical string) (string, error) {
	info, err := os.Stat(logical)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return logical, nil
	}
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", logical, err)
	}
	f, err := os.Open(logical)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", logical, err)
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("resolve %s: %w", logical, err)
	}
	if target, ok := appipc.ParseSoftLink(head[:n]); ok {
		return filepath.FromSlash(target), nil
	}
	return logical, nil
}
