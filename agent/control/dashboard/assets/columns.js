// The columns of the table of tasks, with their content and order. A row does not repeat what the
// heading of its group says already: that is how.group. With how.two it has two lines.

import { make, text } from './dom.js';
import { tr } from './language.js';
import { span, percent, relative, moment } from './words.js';
import { states, stateRank } from './model.js';
import { taskLink } from './attention.js';

const plain = (of) => ({ fill: (td, t) => text(td, of(t)) });

export const byProject = (how) => how.group === 'project' || how.group === 'both';
export const byState = (how) => how.group === 'state' || how.group === 'both';

const dot = (t) => `dot ${t.status}`;

// A column has an id, a label, sort(t), whether it is shown at first, on a phone (narrow) and next
// to the drawer (beside), and either make(td, t, how) and fill(td, t, how), or fill alone. A column
// with fits(how) is no one's choice.
export const columns = [
  {
    id: 'name', label: tr('Task'), sort: (t) => t.title.toLowerCase(), fits: () => true, narrow: true, beside: true,
    make(td, t, how) {
      const a = make('a', { href: taskLink(t), title: t.name });
      td.append(a);
      if (!byProject(how)) a.append(make('span', { class: `key ${t.color}` }), make('strong', {}, t.projectName), ' ');
      a.append(make('span', {}, t.title));
      if (how.two) td.append(make('small'));
    },
    fill(td, t, how) {
      if (how.two) text(td.lastChild, byState(how) || !how.tight ? t.name : `${states[t.status]} · ${t.name}`);
    },
  },
  { id: 'id', label: tr('ID'), sort: (t) => t.rank, fits: (how) => !how.two, ...plain((t) => t.name) },
  {
    id: 'state', label: tr('State'), sort: (t) => stateRank[t.status], fits: (how) => !byState(how),
    make: (td) => td.append(make('span'), make('span')),
    fill(td, t) {
      td.firstChild.className = dot(t);
      text(td.lastChild, states[t.status]);
    },
  },
  {
    id: 'progress', label: tr('Progress'), sort: (t) => t.fraction_done, shown: true, narrow: true, beside: true,
    make: (td, t) => td.append(make('progress', { max: 1, 'aria-label': tr('Progress of {task}', { task: t.name }) }), make('span')),
    fill(td, t) {
      const none = !t.fraction_done && !t.elapsed_seconds;
      td.firstChild.hidden = none;
      if (td.firstChild.value !== t.fraction_done) td.firstChild.value = t.fraction_done;
      text(td.lastChild, none ? tr('Not started') : percent(t.fraction_done));
    },
  },
  { id: 'elapsed', label: tr('Elapsed'), sort: (t) => t.elapsed_seconds, shown: true, number: true, ...plain((t) => (t.elapsed_seconds ? span(t.elapsed_seconds) : '–')) },
  { id: 'remaining', label: tr('Remaining'), sort: (t) => t.remaining_seconds, shown: true, beside: true, number: true, ...plain((t) => (t.remaining_seconds && t.fraction_done < 1 ? span(t.remaining_seconds) : '–')) },
  {
    id: 'deadline', label: tr('Deadline'), sort: (t) => t.due, shown: true, narrow: true, beside: true, number: true,
    fill(td, t) {
      const over = t.due < Date.now();
      text(td, t.report_deadline ? relative(t.due) : '–');
      td.title = t.report_deadline ? moment(t.due) : '';
      td.classList.toggle('bad', over);
      td.classList.toggle('late', !over && t.late_seconds > 0);
    },
  },
  { id: 'late', label: tr('Late by'), sort: (t) => -(t.late_seconds ?? 0), shown: false, number: true, ...plain((t) => (t.late_seconds ? span(t.late_seconds) : '–')) },
  { id: 'cpu', label: tr('CPU time'), sort: (t) => t.cpu_seconds, shown: false, number: true, ...plain((t) => (t.cpu_seconds ? span(t.cpu_seconds) : '–')) },
  { id: 'unsaved', label: tr('Unsaved'), sort: (t) => -(t.unsaved_seconds ?? 0), shown: false, number: true, ...plain((t) => (t.unsaved_seconds >= 1 ? span(t.unsaved_seconds) : '–')) },
  { id: 'slot', label: tr('Slot'), sort: (t) => (t.slot < 0 ? Infinity : t.slot), shown: false, number: true, ...plain((t) => (t.slot < 0 ? '–' : String(t.slot))) },
  { id: 'why', label: tr('Reason'), sort: (t) => t.why, shown: false, ...plain((t) => t.why) },
];
