// Which tasks are in the table, and in which order: filtered, sorted and grouped.

import { tr } from './language.js';
import { states, stateRank } from './model.js';
import { columns, byProject, byState } from './columns.js';

// matches reports whether all words of a search are somewhere in a task.
export function matches(t, words) {
  return words.every((w) => `${t.name} ${t.projectName} ${t.app} ${t.title} ${states[t.status]} ${t.why}`.toLowerCase().includes(w));
}

// kinds are the filters: all tasks, those of a state, and those that will be late.
export const kinds = { all: tr('All'), ...states, late: tr('Will be late') };
const is = (t, kind) => kind === 'all' || (kind === 'late' ? t.late_seconds > 0 : t.status === kind);

// tally counts the tasks of each kind.
export function tally(tasks) {
  const n = { all: tasks.length, late: 0 };
  for (const t of tasks) {
    n[t.status] = (n[t.status] ?? 0) + 1;
    if (is(t, 'late')) n.late++;
  }
  return n;
}

const compare = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
const project = { of: (t) => t.projectName, mark: (t) => `key ${t.color}` };
const state = { of: (t) => states[t.status], mark: (t) => `dot ${t.status}` };

// arrange returns the rows of the table: tasks, and before each group of them
// {group, label, mark, level, count, open}, mark being a class. how is {search, kind, sort, down,
// group, closed}, closed a set of groups of which only the heading is shown. It returns the tasks as
// well that are found, in their order.
export function arrange(tasks, how) {
  const words = how.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tasks.filter((t) => is(t, how.kind) && matches(t, words));
  const column = columns.find((c) => c.id === how.sort);
  const by = [byProject(how) && project, byState(how) && state].filter(Boolean);
  const wanted = (a, b) => (how.down ? -1 : 1) * compare(column.sort(a), column.sort(b));
  found.sort((a, b) => (byProject(how) && compare(a.projectName, b.projectName)) || (byState(how) && stateRank[a.status] - stateRank[b.status]) || wanted(a, b) || a.rank - b.rank);
  if (!by.length) return { rows: found, found };

  const counts = new Map();
  const path = (t, level) => by.slice(0, level + 1).map((x) => x.of(t)).join('\n');
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
      rows.push({ group, label: by[level].of(t), mark: by[level].mark(t), level, count: counts.get(group), open });
    }
    if (open) rows.push(t);
  }
  return { rows, found };
}
