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
	if s.Limit > 0 {
		return phrase("{files}, {bytes} of at most {limit}", "files", words.Count(s.Files, "file"), "bytes", words.Bytes(s.Bytes), "limit", words.Bytes(s.Limit))
	}
	return phrase("{files}, {bytes}", "files", words.Count(s.Files, "file"), "bytes", words.Bytes(s.Bytes))
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
			phraseln(w, "{project} stores {files} here.", "project", name(p), "files", stored(p.Storage))
		}
		for _, problem := range p.Storage.Problems {
			phraseln(w, "{project}: not stored or uploaded: {problem}.", "project", name(p), "problem", printable(problem))
		}
		for _, f := range slices.Backward(p.Storage.Removed) {
			phraseln(w, "{project}: stored file {file} ({bytes}) was removed {when}: {why}.", "project", name(p), "file", printable(f.Name), "bytes", words.Bytes(f.Bytes), "when", words.When(f.At, time.Now()), "why", words.T(printable(f.Why)))
		}
	}
}
