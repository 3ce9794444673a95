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
	var required []string
	for _, k := range c.keys() {
		of := s.Key(k.Name)
		of["description"] = strings.Join(strings.Fields(k.About), " ")
		if k.Max > 0 {
			of["minimum"], of["maximum"] = 0, k.Max
		}
		if k.Required {
			required = append(required, k.Name)
		}
	}
	s.Key("plan_class")["description"] = "Which computers can run the app versions of a plan class"
	s["required"] = required
	return s.Text("server.toml", "Settings of a Starling project")
}
