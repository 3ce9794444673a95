// The selected tasks, and the actions for all of them.

import { make, text, show } from './dom.js';
import { icon } from './icons.js';
import { count, span } from './words.js';
import { act, sure } from './ask.js';

// newSelection makes a selection. It calls changed after a change. tasks returns all tasks.
export function newSelection(changed, tasks) {
  const keys = new Set();
  let from; // the key that was toggled last
  const number = make('span', { role: 'status' });
  const button = (label, action) => make('button', { onclick: () => steerTasks(tasks().filter((t) => keys.has(t.key)), action) }, label);
  const abort = button('Abort…', 'abort soon');
  abort.classList.add('danger');
  const element = make('div', { id: 'selection', role: 'group', 'aria-label': 'Selected tasks', hidden: true }, number,
    button('Suspend', 'suspend'), button('Resume', 'resume'), abort,
    make('button', { class: 'square', 'aria-label': 'Clear selection', onclick: () => { keys.clear(); draw(); } }, icon('close')));

  function draw() {
    text(number, `${count(keys.size, 'task')} selected`);
    show(element, keys.size > 0);
    changed();
  }

  return {
    element,
    has: (key) => keys.has(key),
    // set selects tasks, or none of them.
    set(some, yes) {
      for (const t of some) if (yes) keys.add(t.key); else keys.delete(t.key);
      draw();
    },
    // toggle selects a task or not, and with range all from the last one.
    toggle(key, yes, range, order) {
      const a = order.findIndex((t) => t.key === from), b = order.findIndex((t) => t.key === key);
      const some = range && a >= 0 && b >= 0 ? order.slice(Math.min(a, b), Math.max(a, b) + 1) : [{ key }];
      from = key;
      this.set(some, yes);
    },
    // update forgets tasks that have gone.
    update(all) {
      if (!keys.size) return;
      const there = new Set(all.map((t) => t.key));
      const before = keys.size;
      for (const k of keys) if (!there.has(k)) keys.delete(k);
      if (keys.size !== before) draw();
    },
  };
}

const done = { suspend: 'suspended', resume: 'resumed', 'abort soon': 'will be aborted in 5 minutes. Resume to keep' };

// steerTasks suspends, resumes or aborts tasks, and asks before an abort.
export async function steerTasks(tasks, action) {
  if (!tasks.length) return;
  const one = tasks.length === 1;
  if (action === 'abort soon' && !(await sure(one ? 'Abort this task?' : `Abort ${count(tasks.length, 'task')}?`, `${lost(tasks)} You can undo this for 5 minutes: resume ${one ? 'it' : 'a task'} to keep it.`, one ? 'Abort task' : `Abort ${count(tasks.length, 'task')}`))) return;
  await act('/api/tasks', { tasks: tasks.map((t) => ({ project: t.project, task: t.name })), action }, (v) => {
    const n = one ? (v.tasks ? tasks[0].name : 'No task') : count(v.tasks, 'task');
    return `${n} ${done[action]}${action === 'abort soon' ? (v.tasks === 1 ? ' it.' : ' them.') : '.'}`;
  });
}

// lost returns the consequence of aborting tasks.
function lost(tasks) {
  const [their, them, others] = tasks.length === 1 ? ['Its', 'it', 'another computer'] : ['Their', 'them', 'other computers'];
  const elapsed = tasks.reduce((sum, t) => sum + t.elapsed_seconds, 0);
  return elapsed ? `${their} ${span(elapsed)} of computing are discarded, and the project gives ${them} to ${others}.` : `The project gives ${them} to ${others}.`;
}
