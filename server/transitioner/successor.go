package transitioner

import (
	"strings"
	"time"

	"github.com/starling-grid/starling/server/affinity"
	"github.com/starling-grid/starling/server/store"
)

// freeSuccessors ends the wait of the workunits that follow wu, which has its outcome. Until the
// time until they are reserved for the hosts whose results of wu are valid, since these have its
// files. If there are no such hosts, or wu was given up, they are not reserved.
func freeSuccessors(tx *store.Tx, wu store.Workunit, results []store.Result, now, until time.Time) error {
	tx.SetCause(now, "transitioner", "workunit "+wu.Name+" has its outcome")
	if err := tx.ReadyOutputs(wu.ID, true); err != nil { // the Courier passes them on
		return err
	}
	ids, err := tx.WaitingSuccessors(wu.ID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		kept := time.Time{}
		for _, r := range results {
			if r.ValidateState != store.Valid || r.HostID == 0 {
				continue
			}
			files, err := affinity.Files(wu, r)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				continue // nothing that makes this host better than others
			}
			kept = until
			if err := tx.AddAffinity(r.HostID, id, r.ID); err != nil {
				return err
			}
		}
		if err := tx.ReleaseSuccessor(id, kept); err != nil {
			return err
		}
		next, err := tx.Workunit(id)
		if err != nil {
			return err
		}
		if next.Awaiting {
			continue // for files
		}
		if err := activate(tx, id); err != nil {
			return err
		}
		if strings.Contains(next.XMLDoc, "<generated_locally") { // from now on it may wait in vain
			if err := tx.PutOffTransition(id, now); err != nil {
				return err
			}
		}
	}
	return tx.NoSuccessors(wu.ID)
}
