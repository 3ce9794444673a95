package prefs

// Disk returns the number of bytes that the agent and all projects may take, on a disk of total
// bytes with free bytes left. used is the number of bytes that they have already taken.
//
// Source: BOINC client/cs_prefs.cpp, allowed_disk_usage.
func (p Prefs) Disk(total, free, used int64) int64 {
	allowed := float64(used+free) - p.DiskMinFreeGB*1e9
	allowed = min(allowed, float64(total)*p.DiskMaxUsedPct/100)
	if p.DiskMaxUsedGB > 0 {
		allowed = min(allowed, p.DiskMaxUsedGB*1e9)
	}
	return int64(max(0, allowed))
}

// A DiskUser is a project that shares the disk with others.
type DiskUser struct {
	Share float64 // resource share
	Used  int64   // bytes
}

// DiskShares divides the allowed bytes among the projects. Each gets a quota by its resource share,
// to which a tenth of the largest share is added, so that backup projects get some disk too.
// Projects that take more than their quota share the space that the others leave.
//
// Source: BOINC client/cs_prefs.cpp, get_disk_shares. That divides by the sum of the shares before
// the tenth is added, so that its quotas come to more than is allowed; its comment says what is
// done here. What servers desire is not known.
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
