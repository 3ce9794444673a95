//go:build !linux

package gpus

import "github.com/starling-grid/starling/resource"

// nodes adds nothing: no sandbox keeps tasks from devices here.
func nodes(*Access, resource.Kind, []string) {}

// inImage returns nothing: no task runs in an image here.
func inImage(resource.Kind, []string) (Shared, error) { return Shared{}, nil }
