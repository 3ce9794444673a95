package agent

// idle reports whether nothing is left to do: no result is held, no
// conversation is under way, and every project has been asked for work since
// the agent started and had none, or is not to be asked.
func (a *Agent) idle() bool {
	if a.db.Results.Len() > 0 || len(a.talking) > 0 || len(a.moving) > 0 || len(a.running) > 0 {
		return false
	}
	for u, p := range a.db.Projects.All() {
		if p.Ending.Leaves() {
			return false
		}
		if !p.Contact.Initialized {
			return false
		}
		if a.accounts[u].NoMoreWork {
			continue
		}
		if p.Fetch.AskedAt.Before(a.since) || p.Fetch.Got > 0 {
			return false
		}
	}
	return true
}
