package hostinfo

import "github.com/starling-grid/starling/protocol"

// describe adds the information that BOINC's client gets from the system, in the same form.
func describe(h *protocol.HostInfo) {
	if c, ok := firstProcessor(); ok {
		h.Vendor, h.Model, h.Features, h.CacheBytes, h.ProductName = c.vendor, c.model, c.features, c.cache, c.board
	}
	h.OSName, h.OSVersion = osNames()
}
