// Command embed runs a whole project in one process. It serves the project, computes a job with a
// Go function, and prints the result.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/starling-grid/starling/servertest"
)

func main() {
	ctx := context.Background()
	tb := servertest.Outside(ctx)
	p := servertest.Start(tb)
	p.App("upper", func(_ context.Context, task *servertest.Task) error {
		task.Output("out", bytes.ToUpper(task.Input("in")))
		return nil
	})
	p.Volunteer("ada")
	done := p.Submit("upper", []byte("hello, grid")).Wait(ctx)
	fmt.Printf("%s: %s\n", done.Canonical, done.Files["out"])
	if err := tb.Close(); err != nil {
		log.Fatal(err)
	}
}
