package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/internal/words"
)

// stored describes the files that a project stores here between its tasks: "2 files, 1.5 GB", or
// "-" for none.
func stored(s control.Storage) string {
	if s.Files == 0 {
		return "-"
	}
	text := words.Count(s.Files, "file") + ", " + words.Bytes(s.Bytes)
	if s.Limit > 0 {
		text += " of at most " + words.Bytes(s.Limit)
	}
	return text
}

// explainStored shows which projects are to be left and why, and which of their stored files are
// missing here and why. It is limited to one project if about is not "".
func explainStored(w io.Writer, projects []control.Project, about string) {
	for _, p := range projects {
		if about != "" && !sameProject(about, p.MasterURL) {
			continue
		}
		if p.Ending != "" {
			fmt.Fprintf(w, "%s: %s\n", name(p), printable(p.Ending))
		}
		if p.Storage.Files > 0 {
			fmt.Fprintf(w, "%s stores %s here.\n", name(p), stored(p.Storage))
		}
		for _, problem := range p.Storage.Problems {
			fmt.Fprintf(w, "%s: not stored or uploaded: %s.\n", name(p), printable(problem))
		}
		for _, f := range slices.Backward(p.Storage.Removed) {
			fmt.Fprintf(w, "%s: stored file %s (%s) was removed %s: %s.\n", name(p), printable(f.Name), words.Bytes(f.Bytes), words.When(f.At, time.Now()), printable(f.Why))
		}
	}
}
