package view

import (
	"fmt"
	"time"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/store"
)

const (
	// alarming is the percentage of failures of an app version from which an operator should act.
	alarming = 10
	// fewest is the number of finished results from which a percentage counts. Before that, an operator should
	// act only if all failed.
	fewest = 5
)

// Failed returns the number of a version's results that failed or were invalid.
func (v *Version) Failed() int64 { return v.Error + v.Invalid }

// Over returns the number of a version's results that failed, were invalid or were valid.
func (v *Version) Over() int64 { return v.Failed() + v.Valid }

// Rate returns the percentage of Failed in Over. It is 0 while Over is.
func (v *Version) Rate() float64 { return 100 * float64(v.Failed()) / max(1, float64(v.Over())) }

// Alarming reports whether an operator should act: computers get this version, and it fails often.
func (v *Version) Alarming() bool {
	return v.State == "active" && v.Rate() >= alarming && (v.Valid == 0 || v.Over() >= fewest)
}

// Alarm returns a sentence about the version's failures, without its full stop.
func (v *Version) Alarm() string {
	return fmt.Sprintf("%s %s for %s fails on %s of its tasks (%s of %s)", v.App, versionName(int64(v.VersionNum), v.PlanClass), v.Platform,
		Share(v.Rate()), words.Number(v.Failed()), words.Number(v.Over()))
}

// Share writes a percentage.
func Share(percent float64) string {
	if percent < 1 {
		return fmt.Sprintf("%.1f %%", percent)
	}
	return fmt.Sprintf("%.0f %%", percent)
}

// FailingVersions returns an advice about each version that is Alarming.
func FailingVersions(tx *store.View, now time.Time) (all []store.Violation, err error) {
	list, err := Versions.Find(tx, Query{}, now)
	if err != nil {
		return nil, err
	}
	versions, _ := list.Of.([]Version)
	for _, v := range versions {
		if v.Alarming() {
			all = append(all, store.Violation{
				Rule: "versions of applications run on the computers that get them", Count: int(v.Failed()), Advice: true, Rows: []string{v.Alarm()},
				Mend: fmt.Sprintf("see why: starling-server result list DIR --version-id %d, and result show for one of them; stop sending a broken version: starling-server version deprecate DIR %s --version %s",
					v.ID, v.App, VersionNumber(int64(v.VersionNum))),
			})
		}
	}
	return all, nil
}
