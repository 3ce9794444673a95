package protocol_test

import (
	"fmt"

	"github.com/starling-grid/starling/protocol"
)

// A project's master page names its schedulers.
func ExampleSchedulerURLs() {
	page := []byte(`<html><!-- <scheduler>https://project.example/cgi</scheduler> --><body>Welcome</body></html>`)
	urls, err := protocol.SchedulerURLs(page)
	fmt.Println(urls, err)
	// Output: [https://project.example/cgi] <nil>
}

// The folder of a project is named after its address.
func ExampleEscapeURL() {
	url, err := protocol.CanonicalMasterURL("https://Project.example/grid")
	fmt.Println(url, protocol.EscapeURL(url), err)
	// Output: https://project.example/grid/ project.example_grid <nil>
}
