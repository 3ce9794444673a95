package server_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/tests3"
)

// A project does with files in a bucket what it does with them in folders.
func TestBucket(t *testing.T) {
	s3 := tests3.Start(t)
	before := place
	place = s3.Bucket
	t.Cleanup(func() { place = before })
	for _, test := range []struct {
		name string
		run  func(t *testing.T)
	}{
		{"credit", TestFromWorkunitToCredit},
		{"outvoted", TestAWrongResultIsOutvoted},
		{"no output", TestSuccessWithoutOutputIsNone},
		{"shared inputs", TestSharedInputsStayForTheLast},
		{"versions", TestVersions},
		{"archive", TestFinishedWorkIsArchived},
	} {
		t.Run(test.name, test.run)
	}
}
