package project

import (
	"strings"

	"github.com/starling-grid/starling/internal/tomlfile"
)

// Reference returns the server.toml of a project with all defaults.
func Reference() string {
	c := DefaultConfig()
	return c.Text()
}

// Schema returns the JSON Schema of server.toml.
func Schema() string {
	c := DefaultConfig()
	s := tomlfile.SchemaOf(c)
	fields := c.fields()
	about := ""
	for _, set := range settings {
		if set.about != "" {
			about = strings.ReplaceAll(set.about, "\n", " ")
		}
		of := s.Key(set.name)
		of["description"] = about
		if _, is := number(fields[set.name]); is {
			of["minimum"], of["maximum"] = 0, set.most
		}
	}
	s.Key("plan_class")["description"] = "Which computers can run the app versions of a plan class"
	s["required"] = []string{"long_name", "master_url"}
	return s.Text("server.toml", "Settings of a Starling project")
}
