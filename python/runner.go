// Package python contains the program that runs Python functions, for applications made from
// container images. Everything else in this folder is the Python package starling_grid.
package python

import _ "embed"

// Runner is the text of the program.
//
//go:embed src/starling_grid/runner.py
var Runner []byte
