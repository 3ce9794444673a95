package api

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/starling-grid/starling/server/api/wire"
)

// digestOf returns a checksum of a submission's jobs: their names, command lines and inputs. A batch
// whose priority or limits differ is the same batch.
func digestOf(s *wire.Submission) string {
	h := sha256.New()
	e := json.NewEncoder(h)
	for _, wu := range s.Workunits {
		wu.Priority, wu.FpopsEst = nil, 0
		_ = e.Encode(wu) // neither the values nor the hash can fail
	}
	return hex.EncodeToString(h.Sum(nil))
}
