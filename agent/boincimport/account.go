package boincimport

import (
	"errors"
	"fmt"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/bxml"
)

// accountKey reads the key from a project's account file.
func (m *importer) accountKey(masterURL string) (protocol.Authenticator, error) {
	name := "account_" + protocol.EscapeURL(masterURL) + ".xml"
	b, err := m.read(name, maxNotes)
	if err != nil {
		return "", err
	}
	s := bxml.NewScanner(b).Foreign()
	if err := s.Find("account"); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	var key protocol.Authenticator
	for element := range s.Children() {
		if element == "authenticator" {
			key = protocol.Authenticator(s.Text())
		}
	}
	if err := s.Err(); err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if key == "" {
		return "", fmt.Errorf("%s: %w", name, errors.New("it has no account key"))
	}
	return key, nil
}
