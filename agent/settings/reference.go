package settings

import "github.com/starling-grid/starling/internal/tomlfile"

// Reference returns a starling.toml that sets nothing: every key with its meaning
// and default, in comments.
func Reference() string {
	return tomlfile.SchemaLine(File) + tomlfile.Reference("Settings of the agent. It reads this file when it starts, and some keys of\n"+
		"it when a tool asks for it (boinccmd --read_cc_config), and never writes it.\n"+
		"Commented-out lines show the defaults.\n", Default())
}

// Schema returns the JSON Schema of starling.toml.
func Schema() string {
	return tomlfile.SchemaOf(Default()).Text(File, "Settings of the Starling agent")
}

// accountKind represents all account files, which are named after projects.
const accountKind = "account.toml"

// AccountSchema returns the JSON Schema of account files.
func AccountSchema() string {
	return tomlfile.SchemaOf(DefaultAccount()).Text(accountKind, "A project that the Starling agent is attached to")
}

// AccountReference returns an account file with every key.
func AccountReference() string {
	return tomlfile.SchemaLine(accountKind) + tomlfile.Reference("One project: accounts/NAME.toml, as created by \"starling attach\". The agent rereads\n"+
		"this file when it changes and never rewrites it. Commented-out lines show the defaults.\n", DefaultAccount())
}
