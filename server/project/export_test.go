package project

// ReadConfig is readConfig for tests.
var ReadConfig = readConfig
