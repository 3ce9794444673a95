package prefs

// The units of the preferences, in bytes: BOINC's MEGA and GIGA.
const (
	MB = 1 << 20
	GB = 1 << 30
)

// Disk returns the number of bytes that the agent and all projects may take on a disk of total
// bytes, of which free are free and used are taken by them.
//
// Source: BOINC client/cs_prefs.cpp, allowed_disk_usage.
func (p Prefs) Disk(total, free, used int64) int64 {
	allowed := float64(used+free) - p.DiskMinFreeGB*GB
	allowed = min(allowed, float64(total)*p.DiskMaxUsedPct/100)
	if p.DiskMaxUsedGB > 0 {
		allowed = min(allowed, p.DiskMaxUsedGB*GB)
	}
	return int64(max(0, allowed))
}

// A DiskUser is a project that shares the disk with others.
type DiskUser struct {
	Share float64 // resource share
	Used  int64   // bytes
}

// DiskShares returns the number of bytes that each project may take of those allowed to all of
// them: its quota by resource share, plus a tenth of the largest quota, so that backup projects get
// some disk too. Projects that take more than their quota may use the space that the others leave.
//
// Source: BOINC client/cs_prefs.cpp, get_disk_shares. BOINC divides by the sum of the shares before
// it adds the tenth, so that its quotas exceed the allowed space. Its comment describes the
// computation here. The wishes of servers are not known here.
func DiskShares(allowed int64, projects []DiskUser) []int64 {
	weights, largest, sum := make([]float64, len(projects)), 0.0, 0.0
	for _, p := range projects {
		largest = max(largest, p.Share)
	}
	for i, p := range projects {
		weights[i] = p.Share + largest/10
		if largest == 0 {
			weights[i] = 1
		}
		sum += weights[i]
	}
	shares := make([]int64, len(projects))
	left, greedy := float64(allowed), 0.0
	for i, p := range projects {
		shares[i] = int64(float64(allowed) * weights[i] / sum)
		if p.Used > shares[i] {
			greedy += weights[i]
		} else {
			left -= float64(p.Used)
		}
	}
	for i, p := range projects {
		if p.Used > shares[i] {
			shares[i] = int64(left * weights[i] / greedy)
		}
	}
	return shares
}
