// Package boincconfig reads and writes the files with which people configure BOINC's client,
// cc_config.xml and app_config.xml, as far as Starling has the same settings. BOINC's tools send
// them, and imports and exports convert them. The package decides nothing and stores nothing.
package boincconfig
