// The columns of the table of tasks, with their content and order.

import { make, text } from './dom.js';
import { span, when, percent } from './words.js';
import { states, stateRank } from './model.js';
import { taskLink } from './attention.js';

const plain = (of) => ({ fill: (td, t) => text(td, of(t)) });

// A column has an id, a label, sort(t), whether it is shown at first and on a phone
// (narrow), and either make(td, t) and fill(td, t), or fill alone.
export const columns = [
  {
    id: 'name', label: 'Task', sort: (t) => t.rank, shown: true, always: true, narrow: true,
    make: (td, t) => td.append(make('a', { href: taskLink(t), title: t.name }, t.name)), fill() {},
  },
  { id: 'project', label: 'Project', sort: (t) => t.projectName, shown: false, ...plain((t) => t.projectName) },
  { id: 'app', label: 'Application', sort: (t) => t.app, shown: true, ...plain((t) => t.app) },
  {
    id: 'state', label: 'State', sort: (t) => stateRank[t.status], shown: true, narrow: true,
    make: (td) => td.append(make('span', { class: 'state' })),
    fill: (td, t) => {
      const state = td.firstChild;
      text(state, states[t.status]);
      state.className = t.status === 'running' ? 'state on' : t.status === 'finished' ? 'state done' : t.status === 'failed' ? 'state wrong' : 'state';
    },
  },
  {
    id: 'progress', label: 'Progress', sort: (t) => t.fraction_done, shown: true, number: true, narrow: true,
    make: (td, t) => td.append(make('progress', { max: 1, 'aria-label': `Progress of ${t.name}` }), make('span')),
    fill: (td, t) => {
      if (td.firstChild.value !== t.fraction_done) td.firstChild.value = t.fraction_done;
      text(td.lastChild, percent(t.fraction_done, 1));
    },
  },
  { id: 'elapsed', label: 'Elapsed', sort: (t) => t.elapsed_seconds, shown: true, number: true, ...plain((t) => (t.elapsed_seconds ? span(t.elapsed_seconds) : '–')) },
  { id: 'remaining', label: 'Remaining', sort: (t) => t.remaining_seconds, shown: true, number: true, ...plain((t) => (t.remaining_seconds && t.fraction_done < 1 ? span(t.remaining_seconds) : '–')) },
  {
    id: 'deadline', label: 'Deadline', sort: (t) => (t.report_deadline ? Date.parse(t.report_deadline) : Infinity), shown: true, number: true,
    fill: (td, t) => {
      text(td, t.report_deadline ? when(t.report_deadline) : '–');
      td.classList.toggle('bad', t.late_seconds > 0);
    },
  },
  { id: 'late', label: 'Late by', sort: (t) => -(t.late_seconds ?? 0), shown: false, number: true, ...plain((t) => (t.late_seconds ? span(t.late_seconds) : '–')) },
  { id: 'cpu', label: 'CPU time', sort: (t) => t.cpu_seconds, shown: false, number: true, ...plain((t) => (t.cpu_seconds ? span(t.cpu_seconds) : '–')) },
  { id: 'unsaved', label: 'Unsaved', sort: (t) => -(t.unsaved_seconds ?? 0), shown: false, number: true, ...plain((t) => (t.unsaved_seconds >= 1 ? span(t.unsaved_seconds) : '–')) },
  { id: 'slot', label: 'Slot', sort: (t) => (t.slot < 0 ? Infinity : t.slot), shown: false, number: true, ...plain((t) => (t.slot < 0 ? '–' : String(t.slot))) },
  { id: 'why', label: 'Reason', sort: (t) => t.why, shown: false, ...plain((t) => t.why) },
];
