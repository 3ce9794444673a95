package project

// retired has the keys of older versions' server.toml that no longer have an effect, with the reasons.
var retired = map[string]string{
	"max_request_mb":             "requests may use 64 MB of memory, each only until it is answered, and further ones wait",
	"max_request_mb_per_address": "requests from one address may use 16 MB of memory",
	"min_transfer_rate":          "clients must transfer 500 bytes per second, averaged over half a minute",
	"reliable_max_error_rate":    "a computer is reliable if at most 5 % of its recent results failed",
}
