package boincapi_test

import (
	"bytes"
	"os"

	"github.com/starling-grid/starling/boincapi"
)

// An application that writes its input in capitals.
func Example() {
	boincapi.Run(func(app *boincapi.App) error {
		in, err := app.Resolve("in")
		if err != nil {
			return err
		}
		text, err := os.ReadFile(in)
		if err != nil {
			return err
		}
		if err := app.Yield(); err != nil {
			return err // the client wants the application to leave
		}
		app.FractionDone(0.5)
		out, err := app.Resolve("out")
		if err != nil {
			return err
		}
		return os.WriteFile(out, bytes.ToUpper(text), 0o600)
	})
}
