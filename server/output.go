package server

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/server/store"
	"github.com/starling-grid/starling/server/workgen"
)

type template struct {
	modified time.Time
	output   *workgen.Output
}

// describeResult makes the description of a new result from the workunit's
// output template.
func (s *Server) describeResult(wu store.Workunit, result string, random int64) (string, error) {
	o, err := s.output(wu.ResultTemplateFile)
	if err != nil {
		return "", err
	}
	return o.Expand(result, wu.Name, random, s.Certifier().Certify)
}

// output returns an output template, read again when the file has changed.
func (s *Server) output(name string) (*workgen.Output, error) {
	path := filepath.Join(s.Dir, filepath.FromSlash(name))
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("output template: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.outputs[name]; ok && t.modified.Equal(st.ModTime()) {
		return t.output, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("output template: %w", err)
	}
	o, err := workgen.ParseOutput(name, string(text))
	if err != nil {
		return nil, err
	}
	s.outputs[name] = template{st.ModTime(), o}
	return o, nil
}
