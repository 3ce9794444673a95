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
	var key string
	err = bxml.NewScanner(b).Foreign().Decode("account", func(x bxml.Codec) { x.Text("authenticator", &key) })
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if key == "" {
		return "", fmt.Errorf("%s: %w", name, errors.New("it has no account key"))
	}
	return protocol.Authenticator(key), nil
}
