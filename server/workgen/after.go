package workgen

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/store"
)

// An output of another workunit that a workunit waits for.
type output struct{ of, name string } // name "": only its outcome

// outputName is the name of an output as an input file. Workunits with the same input share the file.
func outputName(workunit, output string) string {
	sum := sha256.Sum256([]byte(workunit + "\x00" + output))
	return fmt.Sprintf("out_%x", sum[:16])
}

// takeOutputs completes the inputs that are outputs of other workunits, and returns all for which the
// workunit waits, each once.
func (g *Generator) takeOutputs(spec *Spec) (list []output, err error) {
	spec.Inputs = slices.Clone(spec.Inputs)
	for i := range spec.Inputs {
		in := &spec.Inputs[i]
		if in.Kind != OutputOf {
			continue
		}
		if in.Path == "" && len(g.outputs) == 1 {
			in.Path = g.outputs[0]
		}
		if !slices.Contains(g.outputs, in.Path) {
			return nil, fmt.Errorf("workunit %s has no output %q: the outputs of %s are %s", in.Of, in.Path, g.app.Name, strings.Join(g.outputs, ", "))
		}
		list = append(list, output{in.Of, in.Path})
	}
	for _, name := range spec.After {
		list = append(list, output{of: name})
	}
	var once []output
	seen := make(map[output]bool)
	for _, o := range list {
		if !seen[o] {
			once = append(once, o)
		}
		seen[o] = true
	}
	return once, nil
}

// awaitOutputs notes which outputs a workunit waits for.
func awaitOutputs(tx *store.Tx, id int64, outputs []output, now time.Time) error {
	for _, o := range outputs {
		before, err := tx.WorkunitByName(o.of)
		if err != nil {
			return fmt.Errorf("comes after: %w", err)
		}
		if o.name != "" && before.CanonicalResultID != 0 {
			canonical, err := tx.Result(before.CanonicalResultID)
			if err == nil && canonical.FileDeleteState == store.DeleteDone {
				err = errors.New("its output files are deleted: create it again")
			}
			if err != nil {
				return fmt.Errorf("workunit %s: %w", o.of, err)
			}
		}
		row := store.AwaitedOutput{WorkunitID: id, Predecessor: before.ID, Output: o.name}
		if o.name != "" {
			row.Name = outputName(o.of, o.name)
		}
		if err := tx.AwaitOutput(row); err != nil {
			return err
		}
		if err := tx.Chain(before.ID, now); err != nil {
			return err
		}
	}
	return nil
}
