// The filters of the tasks by state, each with the number of its tasks.

import { make, text, show } from './dom.js';
import { tr } from './language.js';
import { whole } from './words.js';
import { kinds, tally } from './arrange.js';

// newChips makes the filters. It calls choose with the kind that a person chooses.
export function newChips(choose) {
  const chips = Object.entries(kinds).map(([kind, label]) => {
    const n = make('span', { class: 'count' });
    return { kind, n, button: make('button', { class: `chip ${kind}`, onclick: () => choose(kind) }, label, ' ', n) };
  });
  return {
    element: make('div', { id: 'tasks-chips', class: 'chips', role: 'group', 'aria-label': tr('Show') }, ...chips.map((c) => c.button)),
    // update shows the kinds of tasks that there are, and the one that is chosen.
    update(tasks, chosen) {
      const counts = tally(tasks);
      for (const { kind, n, button } of chips) {
        text(n, whole(counts[kind] ?? 0));
        button.setAttribute('aria-pressed', kind === chosen);
        show(button, kind === 'all' || kind === chosen || counts[kind] > 0);
      }
    },
  };
}
