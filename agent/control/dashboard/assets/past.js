// A task that has ended, in words, and its drawer.

import { make, text, show, facts } from './dom.js';
import { tr } from './language.js';
import { span, when, bytes, far, moment, energy } from './words.js';
import { openDrawer } from './drawer.js';

const outcomes = { finished: tr('Finished'), failed: tr('Failed'), aborted: tr('Aborted') };
const actors = { user: tr('by you'), project: tr('by the project'), agent: tr('by the agent'), account_manager: tr('by the account manager') };

// keyOf returns a unique key of a task. A project may send a task of the same name again.
export const keyOf = (t) => `${t.project} ${t.name} ${t.finished ?? ''}`;

// fromKey returns the task of a key, as [project, name].
export const fromKey = (key) => key.split(' ').slice(0, 2);

// isOf reports whether a task is the one of a key, which may leave out when it finished.
export const isOf = (t, key) => key === keyOf(t) || key === `${t.project} ${t.name}`;

export const pastLink = (t) => `/history?task=${encodeURIComponent(keyOf(t))}`;
export const projectOf = (t) => t.project_name || t.project;

// outcome describes how a task ended: "Finished, 2 h late", "Aborted by you".
export function outcome(t) {
  const outcome = [outcomes[t.outcome] ?? t.outcome, actors[t.by]].filter(Boolean).join(' ');
  return t.late_seconds > 0 ? tr('{outcome}, {time} late', { outcome, time: far(t.late_seconds) }) : outcome;
}

// cause returns why a task ended in another way than it should have.
export const cause = (t) => t.exit || (t.late_seconds > 0 && t.deadline ? tr('The deadline was {time}.', { time: moment(t.deadline) }) : '');

// shade returns the style of a task's outcome. Only a failure has a color.
export const shade = (t) => (t.outcome === 'failed' ? 'state wrong' : 'state done');

// showPast opens the drawer for a task of the history. t is undefined if the task is missing.
export function showPast(key, t, closed) {
  const { body, fresh } = openDrawer(`past ${key}`, t?.name ?? fromKey(key)[1] ?? tr('Task'), closed);
  if (fresh) body.append(make('p', { class: 'empty' }, tr('This task is not in the history.')), build());
  show(body.firstChild, !t);
  show(body.lastChild, !!t);
  if (t) body.lastChild.update(t);
}

function build() {
  const state = make('span'), where = make('p', { class: 'small' }), why = make('p', { class: 'why', id: 'past-why' });
  const list = make('dl', { id: 'past-facts' });
  const stderr = make('pre', { tabindex: 0, id: 'past-stderr', 'aria-label': tr('Output to stderr') });
  const output = make('div', {}, make('h3', {}, tr('Output (end of stderr)')), stderr);
  const e = make('div', {}, make('p', {}, state), where, why, list, output);
  e.update = (t) => {
    text(state, outcome(t));
    state.className = shade(t);
    const version = t.app_version ? `${Math.floor(t.app_version / 100)}.${String(t.app_version % 100).padStart(2, '0')}` : '';
    text(where, [t.app_title, [t.app, version, t.plan_class && `(${t.plan_class})`].filter(Boolean).join(' '), projectOf(t)].filter(Boolean).join(' · '));
    text(why, cause(t));
    facts(list, [
      [tr('Received'), t.received && when(t.received)],
      [tr('Started'), t.started ? when(t.started) : tr('never')],
      [tr('Finished'), t.finished && when(t.finished)],
      [tr('Reported'), t.reported ? when(t.reported) : tr('no')],
      [tr('Deadline'), t.deadline && when(t.deadline)],
      [tr('Late by'), t.late_seconds > 0 && span(t.late_seconds)],
      [tr('Elapsed'), span(t.elapsed_seconds)],
      [tr('CPU time'), span(t.cpu_seconds)],
      [tr('Energy'), energy(t)],
      [tr('Peak memory'), t.peak_memory_bytes > 0 && bytes(t.peak_memory_bytes)],
      [tr('Exit status'), t.outcome !== 'finished' && String(t.exit_status)],
      [tr('Workunit'), t.workunit],
      [tr('Project'), t.project],
    ]);
    text(stderr, t.stderr ?? '');
    show(output, !!t.stderr);
  };
  return e;
}
