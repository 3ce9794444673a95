package decide

// A Decision is a pass whose plans are found by name. The zero value has no plans. It must not be
// used by several goroutines at once.
type Decision struct {
	Record
	projects map[string]int           // index by master URL
	results  func() map[[2]string]int // likewise by master URL and name, made when first asked for
}

// Decide makes a pass.
func Decide(s Snapshot) Decision {
	d := Decision{
		Record:   Record{Snapshot: s, Plan: Pass(s)},
		projects: make(map[string]int, len(s.Projects)),
	}
	for i, p := range s.Projects {
		d.projects[p.URL] = i
	}
	var index map[[2]string]int
	d.results = func() map[[2]string]int {
		if index == nil {
			index = make(map[[2]string]int, len(s.Results))
			for i, r := range s.Results {
				index[[2]string{s.URL(r), r.ID}] = i
			}
		}
		return index
	}
	return d
}

// URL returns the master URL of a result's project.
func (s Snapshot) URL(r Result) string { return s.Projects[r.Project].URL }

// Project returns the decision for a project, or the zero value if the project was attached later.
func (d Decision) Project(url string) ProjectPlan {
	if i, ok := d.projects[url]; ok {
		return d.Plan.Projects[i]
	}
	return ProjectPlan{}
}

// Result returns a result as the pass saw it and the decision for it. ok is false if the pass did
// not see it.
func (d Decision) Result(url, name string) (seen Result, plan ResultPlan, ok bool) {
	if d.results == nil {
		return Result{}, ResultPlan{}, false
	}
	if i, ok := d.results()[[2]string{url, name}]; ok {
		return d.Snapshot.Results[i], d.Plan.Results[i], true
	}
	return Result{}, ResultPlan{}, false
}
