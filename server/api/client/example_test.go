package client_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/starling-grid/starling/server/api/client"
	"github.com/starling-grid/starling/server/api/wire"
)

// A batch of two jobs is submitted, and its outcomes are printed once it is done.
func Example() {
	ctx := context.Background()
	grid := &client.Client{URL: "https://project.example/", Token: os.Getenv("STARLING_TOKEN"), Patience: time.Hour}
	one, two := "hello", "world"
	batch, err := grid.Submit(ctx, wire.Submission{Name: "greetings", App: "upper", Workunits: []wire.Workunit{
		{Inputs: []wire.Input{{Name: "in", Text: &one}}},
		{Inputs: []wire.Input{{Name: "in", Text: &two}}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := grid.Wait(ctx, batch.ID, nil); err != nil {
		log.Fatal(err)
	}
	err = grid.Outcomes(ctx, batch.ID, func(o wire.Outcome) error {
		fmt.Println(o.Name, o.State)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}
