package boottime

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTimePasses(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		before, _ := Now()
		time.Sleep(time.Hour)
		if after, _ := Now(); after.Sub(before) != time.Hour {
			t.Errorf("an hour took %v", after.Sub(before))
		}
	})
}
