package project

import "reflect"

// Reload returns the settings for a server that runs with c and is given new ones. These are the
// new settings, except the ones that need a restart. changed has the keys that now differ from c,
// and restart the keys that will differ after a restart.
func (c Config) Reload(fresh Config) (merged Config, changed, restart []string) {
	merged = fresh
	old := c.keys()
	for i, k := range merged.keys() {
		before := old[i].Value()
		switch {
		case reflect.DeepEqual(k.Value(), before):
		case k.Restart:
			k.Set(before)
			restart = append(restart, k.Name)
		default:
			changed = append(changed, k.Name)
		}
	}
	if !reflect.DeepEqual(c.PlanClasses, fresh.PlanClasses) {
		changed = append(changed, "plan_class")
	}
	return merged, changed, restart
}
