package db

import (
	"cmp"
	"context"
)

// Changes are changes whose outcome their caller does not need, because each is made only on conditions. They
// are part of a transaction, or collected for DB.Apply.
type Changes struct {
	ctx context.Context
	q   queries
}

// Collect returns Changes for DB.Apply.
func Collect() *Changes { return &Changes{context.Background(), new(collected)} }

// collected are changes that no transaction has made yet.
type collected struct {
	queries // nil
	list    []change
}

func (c *collected) postpone(s *Statement, rows [][]any, one bool) bool {
	c.list = append(c.list, change{group{s, one}, rows})
	return true
}

// Apply makes the changes that were collected, all or none of them. They are durable when it returns nil.
// Changes of several callers that wait at the same time share a transaction. It returns ErrLost if a row is not
// as a change expects it.
func (d *DB) Apply(ctx context.Context, c *Changes) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return d.schema.explain(d.engine.apply(ctx, c.q.(*collected).list))
}

// repeat makes collected changes.
func (c *Changes) repeat(list []change) error {
	for _, x := range list {
		do := c.RunEach
		if x.one {
			do = c.ExecEach
		}
		if err := do(x.Statement, x.rows); err != nil {
			return err
		}
	}
	return nil
}

// Run makes a change, and does not need the number of rows that it affects.
func (c *Changes) Run(s *Statement, args ...any) error { return c.RunEach(s, [][]any{args}) }

// RunEach is Run for each of several rows of arguments.
func (c *Changes) RunEach(s *Statement, list [][]any) error {
	if len(list) == 0 || c.q.postpone(s, list, false) {
		return nil
	}
	for _, args := range list {
		if _, err := c.q.exec(c.ctx, s.text, args); err != nil {
			return err
		}
	}
	return nil
}

// ExecOne makes a compare-and-set. It returns ErrLost unless that affects exactly one row.
func (c *Changes) ExecOne(s *Statement, args ...any) error { return c.ExecEach(s, [][]any{args}) }

// ExecEach is ExecOne for each of several rows of arguments. No two of these may be about the same
// row. After an error some may have been changed, so the caller must abandon the transaction.
func (c *Changes) ExecEach(s *Statement, list [][]any) error {
	if len(list) == 0 || c.q.postpone(s, list, true) {
		return nil
	}
	for _, args := range list {
		if n, err := c.q.exec(c.ctx, s.text, args); err != nil || n != 1 {
			return cmp.Or(err, ErrLost)
		}
	}
	return nil
}
