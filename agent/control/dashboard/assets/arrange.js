// Which tasks are in the table, and in which order: filtered, sorted and grouped.

import { states, stateRank } from './model.js';
import { columns } from './columns.js';

// matches reports whether all words of a search are somewhere in a task.
export function matches(t, words) {
  return words.every((w) => `${t.name} ${t.projectName} ${t.app} ${states[t.status]} ${t.why}`.toLowerCase().includes(w));
}

const groupings = {
  none: [],
  project: [(t) => t.projectName],
  state: [(t) => states[t.status]],
  both: [(t) => t.projectName, (t) => states[t.status]],
};

// arrange returns the rows of the table: tasks, and before each group of them
// {group, label, level, count, open}. how is {search, sort, down, group, closed}, closed a
// set of groups of which only the heading is shown. It returns the tasks as well that are
// found, in their order.
export function arrange(tasks, how) {
  const words = how.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length ? tasks.filter((t) => matches(t, words)) : [...tasks];
  const column = columns.find((c) => c.id === how.sort);
  const by = groupings[how.group] ?? [];
  const compare = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
  const usual = (a, b) => stateRank[a.status] - stateRank[b.status] || a.rank - b.rank;
  const wanted = column ? (a, b) => (how.down ? -1 : 1) * compare(column.sort(a), column.sort(b)) : () => 0;
  const inGroups = (a, b) => {
    if (how.group === 'project' || how.group === 'both') {
      const order = compare(a.projectName, b.projectName);
      if (order) return order;
    }
    return how.group === 'state' || how.group === 'both' ? stateRank[a.status] - stateRank[b.status] : 0;
  };
  found.sort((a, b) => inGroups(a, b) || wanted(a, b) || usual(a, b));
  if (!by.length) return { rows: found, found };

  const counts = new Map();
  const path = (t, level) => by.slice(0, level + 1).map((of) => of(t)).join('\n');
  for (const t of found) {
    for (let level = 0; level < by.length; level++) {
      const group = path(t, level);
      counts.set(group, (counts.get(group) ?? 0) + 1);
    }
  }
  const rows = [], last = [];
  for (const t of found) {
    let open = true;
    for (let level = 0; level < by.length && open; level++) {
      const group = path(t, level);
      open = !how.closed.has(group);
      if (last[level] === group) continue;
      last[level] = group;
      rows.push({ group, label: by[level](t), level, count: counts.get(group), open });
    }
    if (open) rows.push(t);
  }
  return { rows, found };
}
