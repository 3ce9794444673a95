package tomlfile_test

import (
	"testing"

	"github.com/starling-grid/starling/internal/tomlfile"
)

func TestSchema(t *testing.T) {
	type tool struct {
		Name string `toml:"name" example:"hammer" about:"which one"`
		Hard bool   `toml:"hard"`
	}
	type inner struct {
		Hours float64 `toml:"hours"`
	}
	type file struct {
		inner
		Level string          `toml:"level" enum:"low,high" about:"how much" unit:"levels"`
		Names []string        `toml:"names"`
		Most  *int            `toml:"most"`
		Tools []tool          `toml:"tool"`
		Sets  map[string]tool `toml:"set"`
		Flags map[string]bool `toml:"flags"`
		Own   string          `toml:"-"`
	}
	s := tomlfile.SchemaOf(file{inner: inner{Hours: 1.5}, Level: "low", Names: []string{"a"}, Flags: map[string]bool{"on": true}})
	s.Key("hours")["minimum"] = 0
	const want = `{
	"$id": "https://raw.githubusercontent.com/starling-grid/starling/main/schema/a.toml.json",
	"$schema": "http://json-schema.org/draft-07/schema#",
	"additionalProperties": false,
	"properties": {
		"flags": {
			"additionalProperties": {
				"default": false,
				"type": "boolean"
			},
			"properties": {
				"on": {
					"default": true,
					"type": "boolean"
				}
			},
			"type": "object"
		},
		"hours": {
			"default": 1.5,
			"minimum": 0,
			"type": "number"
		},
		"level": {
			"default": "low",
			"description": "how much (levels)",
			"enum": [
				"low",
				"high"
			],
			"type": "string"
		},
		"most": {
			"default": 0,
			"type": "integer"
		},
		"names": {
			"default": [
				"a"
			],
			"items": {
				"type": "string"
			},
			"type": "array"
		},
		"set": {
			"additionalProperties": {
				"additionalProperties": false,
				"properties": {
					"hard": {
						"default": false,
						"type": "boolean"
					},
					"name": {
						"description": "which one",
						"type": "string"
					}
				},
				"required": [
					"name"
				],
				"type": "object"
			},
			"type": "object"
		},
		"tool": {
			"items": {
				"additionalProperties": false,
				"properties": {
					"hard": {
						"default": false,
						"type": "boolean"
					},
					"name": {
						"description": "which one",
						"type": "string"
					}
				},
				"required": [
					"name"
				],
				"type": "object"
			},
			"type": "array"
		}
	},
	"title": "A",
	"type": "object"
}
`
	if got := s.Text("a.toml", "A"); got != want {
		t.Errorf("got\n%s", got)
	}
}
