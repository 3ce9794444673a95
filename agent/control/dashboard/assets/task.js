// The drawer of a task, with all of the agent's data about it.

import { make, text, show, swap, keep, facts } from './dom.js';
import { span, when, bytes, number, percent, reason } from './words.js';
import { call } from './ask.js';
import { openDrawer, isOpen } from './drawer.js';
import { states } from './model.js';
import { steerTasks } from './select.js';

const often = 2000; // milliseconds between questions for the details

let parts, detail, asked = 0;

// showTask opens the drawer for the task of a key, or updates it.
export function showTask(key, model, closed) {
  const t = model.tasks.find((t) => t.key === key);
  const { body, fresh } = openDrawer(`task ${key}`, t?.name ?? 'Task', closed);
  if (fresh) {
    detail = undefined;
    asked = 0;
    parts = build(body);
  }
  show(parts.there, !!t);
  show(parts.missing, !t);
  if (!t) return;
  parts.task = t;
  draw(t);
  if (Date.now() - asked < often) return;
  asked = Date.now();
  call(`/api/task?${new URLSearchParams({ project: t.project, task: t.name })}`).then((d) => {
    if (!isOpen(`task ${key}`)) return;
    detail = d;
    draw(t);
  }, () => {}); // it is gone, which the next view shows
}

function build(body) {
  const p = {
    missing: make('p', { class: 'empty' }, 'This task has left the list: it was reported or removed.'),
    there: make('div'), state: make('span', { class: 'state' }), where: make('p', { class: 'small' }), bar: make('progress', { max: 1, 'aria-label': 'Progress' }),
    done: make('span', { class: 'number big' }), left: make('span', { class: 'number small' }), why: make('p', { class: 'why', id: 'task-why' }),
    late: make('p', { class: 'why bad' }), facts: make('dl', { id: 'task-facts' }), files: make('tbody'), stderr: make('pre', { tabindex: 0, id: 'task-stderr', 'aria-label': 'Output to stderr' }),
  };
  const button = (label, action) => make('button', { onclick: () => steerTasks([p.task], action) }, label);
  p.suspend = button('Suspend', 'suspend');
  p.resume = button('Resume', 'resume');
  p.abort = button('Abort', 'abort soon');
  p.abort.classList.add('danger', 'apart');
  p.actions = make('div', { class: 'actions' }, p.suspend, p.resume, p.abort);
  p.filesBox = make('div', {}, make('h3', {}, 'Files'), make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Files' }, make('table', { class: 'plain' },
    make('thead', {}, make('tr', {}, ...['File', 'Size', 'State'].map((h) => make('th', { scope: 'col' }, h)))), p.files)));
  p.stderrBox = make('div', {}, make('h3', {}, 'Output (end of stderr)'), p.stderr);
  p.there.append(make('p', {}, p.state), p.where, p.bar, make('div', { class: 'ends' }, p.done, p.left), p.why, p.late, p.actions, p.facts, p.filesBox, p.stderrBox);
  body.append(p.missing, p.there);
  return p;
}

function draw(t) {
  const p = parts, d = detail ?? {};
  text(p.state, states[t.status]);
  p.state.classList.toggle('on', t.running);
  text(p.where, [d.app_title || t.app, d.version, t.projectName].filter(Boolean).join(' · '));
  p.bar.value = t.fraction_done;
  text(p.done, percent(t.fraction_done, 1));
  text(p.left, t.remaining_seconds > 0 && t.fraction_done < 1 ? `${span(t.remaining_seconds)} remaining` : '');
  text(p.why, reason(t.why, d.reason?.until) + (t.cure ? ` You can: ${t.cure}` : ''));
  text(p.late, t.late_seconds > 0 ? `You can: ${t.late_cure}` : '');
  show(p.late, t.late_seconds > 0);
  const over = t.ready_to_report || t.status === 'uploading' || t.status === 'failed';
  show(p.actions, !over);
  swap(p.resume, p.suspend, !!t.suspended || !!t.abort_at);
  show(p.abort, !t.abort_at);
  facts(p.facts, [
    ['Deadline', t.report_deadline && when(t.report_deadline)],
    ['Late by', t.late_seconds > 0 && span(t.late_seconds)],
    ['Elapsed', t.elapsed_seconds > 0 && span(t.elapsed_seconds)],
    ['CPU time', t.cpu_seconds > 0 && span(t.cpu_seconds)],
    ['Last checkpoint', d.checkpoint_elapsed_seconds > 0 ? `after ${span(d.checkpoint_elapsed_seconds)}` : t.elapsed_seconds > 0 && !over && detail && 'none yet'],
    ['Unsaved', t.unsaved_seconds >= 1 && `${span(t.unsaved_seconds)}: a shutdown now would lose that`],
    ['Uses', t.resources || d.cpus && `${number(d.cpus)} ${d.cpus === 1 ? 'CPU' : 'CPUs'}`],
    ['Memory', d.memory > 0 && `${bytes(d.memory)}${d.memory_bound ? ` of at most ${bytes(d.memory_bound)}` : ''}`],
    ['Peak memory', d.memory_peak > 0 && bytes(d.memory_peak)],
    ['Disk', d.disk > 0 && `${bytes(d.disk)}${d.disk_bound ? ` of at most ${bytes(d.disk_bound)}` : ''}`],
    ['Slot', t.slot >= 0 && String(t.slot)],
    ['Process', t.pid && String(t.pid)],
    ['Received', d.received && when(d.received)],
    ['Started', d.started && when(d.started)],
    ['Completed', d.completed && when(d.completed)],
    ['Exit status', (t.exit_status || t.failed) && String(t.exit_status ?? 0)],
    ['Workunit', d.workunit],
    ['Project', t.project],
  ]);
  show(p.filesBox, !!d.files?.length);
  keep(p.files, d.files ?? [], (f) => f.name, file);
  text(p.stderr, d.stderr ?? '');
  show(p.stderrBox, !!d.stderr);
}

function file(f) {
  const size = make('td', { class: 'num' }), state = make('td');
  const e = make('tr', {}, make('th', { scope: 'row' }, f.name), size, state);
  e.update = (f) => {
    text(size, f.size ? bytes(f.size) : '–');
    text(state, f.error || (f.output ? (f.sent ? 'uploaded' : f.here ? 'to be uploaded' : 'not made yet') : f.here ? 'downloaded' : 'not downloaded yet'));
  };
  return e;
}
