package project

import "slices"

// A setting describes a key of server.toml. It is the only place with the key's meaning, default
// and allowed values. The value is in the field of Config with the same name.
type setting struct {
	name    string
	about   string  // lines of the comment above it ("": covered by the setting before)
	preset  any     // default (nil: "", 0, false or nothing)
	most    float64 // of a number, which is 0 or more
	check   func(c *Config) error
	restart bool // a server that runs does not take a new value up
}

// settings are all but the plan classes, in the order of the file.
var settings = slices.Concat(placeSettings, workSettings, peopleSettings)

// head and foot stand before and after the settings.
const (
	head = `#:schema https://raw.githubusercontent.com/starling-grid/starling/main/schema/server.toml.json
# Settings of the project. A key that exists in BOINC has the name it has in
# BOINC's config.xml. A limit of 0 means no limit. The server reads this file
# when it starts, and again on SIGHUP (systemctl reload); its log names what
# takes a restart: addresses, TLS, database and files.
`
	foot = `
# Plan classes: which computers can run the app versions of a class. For example
#
# [plan_class.mt]
# min_ncpus = 2            # minimum number of CPUs that the computer may use
# max_threads = 8          # maximum number of CPUs that a task uses (default: 1)
# nthreads_cmdline = true  # pass that number to the program: --nthreads N
# cpu_feature = ["avx2"]   # features that the processor must report
# min_memory_mb = 4096     # memory of the computer
# projected_flops_scale = 1.5  # speed relative to the benchmark times the CPUs
#
# [plan_class.cuda]
# gpu_type = "nvidia"      # nvidia, amd, intel_gpu, apple_gpu, or the name of another coprocessor
# min_gpu_ram_mb = 2000    # memory of each device
# min_driver_version = 45000
# cuda = true
# min_cuda_version = 11000
# gpu_peak_flops_scale = 0.2  # the part of the peak speed that the program reaches
# cpu_frac = 0.02          # the part of the operations that the CPU does
# ngpus = 0.5              # devices that a task uses (default: 1)
#
# [plan_class.vbox64]
# virtualbox = true        # the program runs in VirtualBox; docker = true: in Podman or Docker
# is64bit = true           # in a virtual machine of 64 bits
# vm_accel_required = true # the processor must support virtual machines
`
)
