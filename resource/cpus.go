package resource

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// ParseCPUs parses numbers of CPUs in the kernel's form, such as 0-3,8. They are sorted and unique.
func ParseCPUs(text string) ([]int, error) {
	all := make(map[int]bool)
	for part := range strings.SplitSeq(text, ",") {
		from, to, is := strings.Cut(strings.TrimSpace(part), "-")
		if !is {
			to = from
		}
		first, err1 := strconv.ParseUint(strings.TrimSpace(from), 10, 16)
		last, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 16)
		if err1 != nil || err2 != nil || last < first || last >= MaxCPUs {
			return nil, fmt.Errorf("%q is not a number of a CPU, or a range such as 0-3", part)
		}
		for n := first; n <= last; n++ {
			all[int(n)] = true
		}
	}
	return slices.Sorted(maps.Keys(all)), nil
}

// MaxCPUs is the number of CPUs that a mask of the kernel has room for.
const MaxCPUs = 1024

// FormatCPUs writes sorted numbers of CPUs in the same form.
func FormatCPUs(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		part := strconv.Itoa(cpus[i])
		if last > i {
			part += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}
