package pass_test

import (
	"errors"
	"testing"
	"time"

	"github.com/starling-grid/starling/server/pass"
	"github.com/starling-grid/starling/server/store/storetest"
)

// What failed while the clock was ahead does not wait until that time comes.
func TestOffAfterTheClockWasSetBack(t *testing.T) {
	var o pass.Off
	ahead := storetest.T0.Add(365 * 24 * time.Hour)
	delay := o.Failed(1, 1, errors.New("no"), ahead, time.Minute, 6*time.Hour)
	if o.Due(1, ahead) {
		t.Error("not put off")
	}
	if !o.Due(1, storetest.T0.Add(delay)) {
		t.Errorf("put off for %v, and not due %v after the clock was set back", delay, delay)
	}
}
