// The selected tasks, and the actions for all of them.

import { make, text, show } from './dom.js';
import { tr, plural, count } from './language.js';
import { icon } from './icons.js';
import { span } from './words.js';
import { act, sure } from './ask.js';

// newSelection makes a selection. It calls changed after a change. tasks returns all tasks.
export function newSelection(changed, tasks) {
  const keys = new Set();
  let from; // the key that was toggled last
  const number = make('span', { role: 'status' });
  const button = (label, action) => make('button', { onclick: () => steerTasks(tasks().filter((t) => keys.has(t.key)), action) }, label);
  const abort = button(tr('Abort…'), 'abort soon');
  abort.classList.add('danger');
  const element = make('div', { id: 'selection', role: 'group', 'aria-label': tr('Selected tasks'), hidden: true }, number,
    button(tr('Suspend'), 'suspend'), button(tr('Resume'), 'resume'), abort,
    make('button', { class: 'square', 'aria-label': tr('Clear selection'), onclick: () => { keys.clear(); draw(); } }, icon('close')));

  function draw() {
    text(number, plural(keys.size, '{n} task selected', '{n} tasks selected'));
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

// done are the messages about n tasks, which are their number or the name of one.
const done = {
  suspend: (n, tasks) => tr('{tasks} suspended.', { tasks }),
  resume: (n, tasks) => tr('{tasks} resumed.', { tasks }),
  'abort soon': (n, tasks) => plural(n, '{tasks} will be aborted in 5 minutes. Resume to keep it.', '{tasks} will be aborted in 5 minutes. Resume to keep them.', { tasks }),
};

// steerTasks suspends, resumes or aborts tasks, and asks before an abort.
export async function steerTasks(tasks, action) {
  if (!tasks.length) return;
  const n = tasks.length;
  const undo = plural(n, 'You can undo this for 5 minutes: resume it to keep it.', 'You can undo this for 5 minutes: resume a task to keep it.');
  if (action === 'abort soon' && !(await sure(plural(n, 'Abort this task?', 'Abort {n} tasks?'), `${lost(tasks)} ${undo}`, plural(n, 'Abort task', 'Abort {n} tasks')))) return;
  await act('/api/tasks', { tasks: tasks.map((t) => ({ project: t.project, task: t.name })), action }, (v) => {
    const one = v.tasks ? tasks[0].name : tr('No task');
    return done[action](v.tasks, n === 1 ? one : count(v.tasks, 'task'));
  });
}

// lost returns the consequence of aborting tasks.
function lost(tasks) {
  const n = tasks.length, elapsed = tasks.reduce((sum, t) => sum + t.elapsed_seconds, 0);
  if (!elapsed) return plural(n, 'The project gives it to another computer.', 'The project gives them to other computers.');
  const time = span(elapsed);
  return plural(n, 'Its {time} of computing are discarded, and the project gives it to another computer.', 'Their {time} of computing are discarded, and the project gives them to other computers.', { time });
}
