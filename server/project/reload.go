package project

import (
	"reflect"
)

// Reload returns the settings for a server that runs with c and is given new ones. These are the
// new settings, except the ones that need a restart. changed has the keys that now differ from c,
// and restart the keys that will differ after a restart.
func (c Config) Reload(fresh Config) (merged Config, changed, restart []string) {
	merged = fresh
	now, old := merged.fields(), c.fields()
	for _, set := range settings {
		if reflect.DeepEqual(now[set.name].Interface(), old[set.name].Interface()) {
			continue
		}
		if set.restart {
			now[set.name].Set(old[set.name])
			restart = append(restart, set.name)
			continue
		}
		changed = append(changed, set.name)
	}
	if !reflect.DeepEqual(c.PlanClass, fresh.PlanClass) {
		changed = append(changed, "plan_class")
	}
	return merged, changed, restart
}
