module github.com/starling-grid/starling

go 1.26
