package server_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/tests3"
)

// inBucket gives all that follows in a test buckets of an S3 service for its files.
func inBucket(t *testing.T) *tests3.Service {
	t.Helper()
	s3 := tests3.Start(t)
	choose(t, func(g *ground) { g.files = s3.Bucket })
	return s3
}

// A project works the same way with files in a bucket as with files in folders.
func TestBucket(t *testing.T) {
	t.Parallel()
	inBucket(t)
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
