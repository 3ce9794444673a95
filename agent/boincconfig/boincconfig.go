// Package boincconfig reads and writes the files by which people configure BOINC's
// client, cc_config.xml and app_config.xml, as far as Starling has the same settings:
// BOINC's tools send them, and imports and exports carry them over. It decides nothing
// and keeps nothing.
package boincconfig
