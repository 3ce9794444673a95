module github.com/starling-grid/starling

go 1.26.0

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/shirou/gopsutil/v3 v3.24.5 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
