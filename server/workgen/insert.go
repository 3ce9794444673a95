package workgen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/server/blob"
	"github.com/starling-grid/starling/server/store"
)

// there returns an error if an input file is missing, unless it may come later. It looks only for files that
// are not in checked, to which it adds them.
func (g *Generator) there(ctx context.Context, p prepared, checked map[string]bool) error {
	for j, f := range p.files {
		if checked[f.Name] {
			continue
		}
		if !f.GeneratedLocally && len(f.DownloadURLs) == 0 && !slices.Contains(p.awaited, f.Name) && p.from[j].Kind != OutputOf {
			if err := g.ensure(ctx, f, p.from[j]); err != nil {
				return err
			}
		}
		checked[f.Name] = true
	}
	return nil
}

// groups divides a list into groups of workunits that are inserted at once. A workunit that depends on others, which
// may be in the list, gets a group without others.
func groups(list []prepared) (out [][]prepared) {
	alone := true
	for i, p := range list {
		depends := p.after != "" || len(p.outputs) > 0
		if depends || alone {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], list[i])
		alone = depends
	}
	return out
}

// place finds the predecessor and the target of the workunit.
func (p *prepared) place(tx *store.Tx, now time.Time) (err error) {
	if p.after != "" {
		before, err := tx.WorkunitByName(p.after)
		if err != nil {
			return fmt.Errorf("predecessor: %w", err)
		}
		p.row.Predecessor, p.row.PredecessorPending, p.row.Awaiting = before.ID, true, true
		if err := tx.Chain(before.ID, now); err != nil {
			return err
		}
	}
	p.row.Target, err = p.target(tx.View)
	return err
}

// insert inserts a group of workunits.
func insert(tx *store.Tx, list []prepared, now time.Time) error {
	rows := make([]store.NewWorkunit, len(list))
	for i, p := range list {
		if err := p.place(tx, now); err != nil {
			return &SpecError{Index: i, Err: err}
		}
		rows[i].Workunit = p.row
		for _, f := range p.files {
			for _, name := range blob.Names(f) {
				if !slices.Contains(rows[i].Files, name) {
					rows[i].Files = append(rows[i].Files, name)
				}
			}
		}
	}
	ids, err := tx.InsertWorkunits(rows...)
	if errors.Is(err, store.ErrExists) {
		return &SpecError{Index: len(ids), Err: err}
	}
	if err != nil {
		return err
	}
	for i, p := range list {
		if err := p.count(tx); err != nil {
			return err
		}
		if err := awaitOutputs(tx, ids[i], p.outputs, now); err != nil {
			return &SpecError{Index: i, Err: err}
		}
		for _, name := range p.awaited {
			if err := tx.AwaitFile(ids[i], name); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts the input files that the project stores for the token.
func (p *prepared) count(tx *store.Tx) error {
	if p.row.TokenID == 0 {
		return nil
	}
	for i, f := range p.files {
		if !p.from[i].Counted || f.GeneratedLocally || len(f.DownloadURLs) > 0 {
			continue
		}
		if err := tx.KeepFile(p.row.TokenID, f.Name, f.NBytes+f.GzippedNBytes); err != nil {
			return err
		}
	}
	return nil
}
