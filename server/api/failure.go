package api

import (
	"context"
	"strings"

	"github.com/starling-grid/starling/server/api/wire"
	"github.com/starling-grid/starling/server/store"
)

// maxStderr is the maximum number of bytes of a program's standard error in a failure.
const maxStderr = 1000

// failures returns the last failed attempt at each of these workunits that was given up, by the
// workunit's ID.
func (a *API) failures(ctx context.Context, list []store.Workunit) (map[int64]*wire.Failure, error) {
	failures := make(map[int64]*wire.Failure)
	err := a.Store.View(ctx, func(tx *store.View) error {
		for _, wu := range list {
			if wu.ErrorMask == 0 {
				continue
			}
			results, err := tx.ResultsOf(wu.ID)
			if err != nil {
				return err
			}
			for _, r := range results {
				if r.Outcome == store.ClientError {
					failures[wu.ID] = &wire.Failure{ExitStatus: r.ExitStatus, Stderr: endOfStderr(r.StderrOut)}
				}
			}
		}
		return nil
	})
	return failures, err
}

// endOfStderr returns the end of a program's standard error, which clients report among other
// elements.
func endOfStderr(report string) string {
	if _, text, ok := strings.Cut(report, "<stderr_txt>"); ok {
		report, _, _ = strings.Cut(text, "</stderr_txt>")
	}
	report = strings.TrimSpace(report)
	return strings.ToValidUTF8(report[max(0, len(report)-maxStderr):], "")
}
