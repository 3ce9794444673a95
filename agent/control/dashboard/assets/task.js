// The drawer of a task, with all of the agent's data about it.

import { make, text, show, swap, keep, facts } from './dom.js';
import { icon } from './icons.js';
import { span, bytes, number, percent, reason, relative, moment, energy } from './words.js';
import { call, say, complain } from './ask.js';
import { openDrawer, isOpen } from './drawer.js';
import { states } from './model.js';
import { steerTasks } from './select.js';

const often = 2000; // milliseconds between questions for the details

let parts, detail, asked = 0;

// showTask opens the drawer for the task of a key, or updates it.
export function showTask(key, model, closed) {
  const t = model.tasks.find((t) => t.key === key);
  const { body, fresh } = openDrawer(`task ${key}`, t?.title ?? 'Task', closed, t);
  if (fresh) {
    detail = undefined;
    asked = 0;
    parts = build(body);
    parts.past.href = `/history?task=${encodeURIComponent(key)}`;
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
    id: make('code'), done: make('span', { class: 'big' }), dot: make('span'), state: make('span'), bar: make('progress', { max: 1, 'aria-label': 'Progress' }),
    left: make('span'), due: make('span'), why: make('p', { id: 'task-why' }), late: make('p', { class: 'late' }),
    time: make('dl'), uses: make('dl'), details: make('dl'), filesSaid: make('span', { class: 'count' }), files: make('tbody'),
    stderr: make('pre', { tabindex: 0, id: 'task-stderr', 'aria-label': 'Output to stderr' }), loses: make('p', { class: 'small' }), past: make('a', {}, 'Show it in History'),
  };
  p.missing = make('p', { class: 'empty' }, 'This task was reported and has left the list. ', p.past, '.');
  const button = (name, label, action) => make('button', { onclick: () => steerTasks([p.task], action) }, name && icon(name), label);
  p.suspend = button('pause', 'Suspend', 'suspend');
  p.resume = button('resume', 'Resume', 'resume');
  p.abort = button('', 'Abort…', 'abort soon');
  p.abort.classList.add('danger');
  p.stderrBox = make('div', {}, make('h3', {}, 'Output (end of stderr)'), p.stderr);
  p.timeBox = make('section', {}, make('h3', {}, 'Time'), p.time);
  p.usesBox = make('section', {}, make('h3', {}, 'Uses'), p.uses);
  p.filesBox = make('details', {}, make('summary', {}, make('h3', {}, 'Files'), ' ', p.filesSaid), make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Files' },
    make('table', { class: 'plain' }, make('thead', {}, make('tr', {}, ...['File', 'Size', 'State'].map((h) => make('th', { scope: 'col' }, h)))), p.files)));
  p.end = make('div', { class: 'end' }, p.abort, p.loses);
  p.there = make('div', { class: 'parts', id: 'task-facts' },
    make('div', {}, make('p', { class: 'ends' }, p.id, make('button', { class: 'square', 'aria-label': 'Copy the task ID', title: 'Copy the task ID', onclick: () => copy(p.task.name) }, icon('copy'))),
      make('div', { class: 'ends' }, make('p', { class: 'now' }, p.done, p.dot, p.state), p.suspend, p.resume), p.bar, make('p', { class: 'ends small' }, p.left, p.due), p.why, p.late),
    p.timeBox, p.usesBox, p.filesBox,
    make('details', { id: 'task-details' }, make('summary', {}, make('h3', {}, 'Technical details'), ' ', make('span', { class: 'count' }, 'workunit, process, output')), p.details, p.stderrBox),
    p.end);
  body.append(p.missing, p.there);
  return p;
}

const copy = (name) => navigator.clipboard.writeText(name).then(() => say('The task ID was copied.'), () => complain('The browser did not copy the task ID.'));

function draw(t) {
  const p = parts, d = detail ?? {};
  text(p.id, t.name);
  text(p.done, percent(t.fraction_done));
  p.dot.className = `dot ${t.status}`;
  text(p.state, states[t.status]);
  p.bar.value = t.fraction_done;
  p.there.classList.toggle('resting', !t.running);
  text(p.left, t.remaining_seconds > 0 && t.fraction_done < 1 ? `${span(t.remaining_seconds)} remaining` : '');
  text(p.due, t.report_deadline ? `${t.due < Date.now() ? 'Was due' : 'Due'} ${relative(t.due)}, ${moment(t.due)}` : '');
  text(p.why, t.running && !t.late_seconds ? '' : reason(t.why, d.reason?.until) + (t.cure ? ` You can: ${t.cure}` : ''));
  text(p.late, t.late_seconds > 0 ? `It will be about ${span(t.late_seconds)} late.${t.late_cure ? ` You can: ${t.late_cure}` : ''}` : '');
  const over = t.ready_to_report || t.status === 'uploading' || t.status === 'failed';
  swap(p.resume, p.suspend, !!t.suspended || !!t.abort_at);
  if (over) for (const b of [p.resume, p.suspend]) show(b, false);
  show(p.end, !over && !t.abort_at);
  text(p.loses, `${t.elapsed_seconds > 0 ? `Discards ${span(t.elapsed_seconds)} of computing. ` : ''}The project gives the task to another computer.`);
  const unsaved = d.checkpoint_elapsed_seconds > 0 ? t.elapsed_seconds - d.checkpoint_elapsed_seconds : 0;
  group(p.timeBox, p.time, [
    ['Elapsed', t.elapsed_seconds > 0 && `${span(t.elapsed_seconds)}${d.started ? ',' : ''}`, d.started && `since ${moment(d.started)}`],
    ['CPU time', t.cpu_seconds > 0 && span(t.cpu_seconds)],
    ['Energy', energy(t)],
    ['Last checkpoint', d.checkpoint_elapsed_seconds > 0 ? (t.running ? `${span(Math.max(0, unsaved))} ago` : `after ${span(d.checkpoint_elapsed_seconds)}`) : t.elapsed_seconds > 0 && !over && detail && 'none yet'],
    ['Shutting down now', t.running && (t.unsaved_seconds >= 1 ? `loses ${span(t.unsaved_seconds)} of this task` : 'loses nothing of this task')],
  ]);
  const most = (n) => n && `of at most ${bytes(n)}`;
  group(p.usesBox, p.uses, [
    ['Processor', t.resources || d.cpus && `${number(d.cpus)} ${d.cpus === 1 ? 'CPU' : 'CPUs'}`],
    ['Memory', d.memory > 0 && bytes(d.memory), most(d.memory_bound)],
    ['Disk', d.disk > 0 && bytes(d.disk), most(d.disk_bound)],
  ]);
  facts(p.details, [
    ['Application', [t.app, d.version].filter(Boolean).join(' ')],
    ['Peak memory', d.memory_peak > 0 && bytes(d.memory_peak)],
    ['Workunit', d.workunit],
    ['Slot', t.slot >= 0 && String(t.slot)],
    ['Process', t.pid && String(t.pid)],
    ['Exit status', (t.exit_status || t.failed) && String(t.exit_status ?? 0)],
    ['Received', d.received && moment(d.received)],
    ['Started', d.started && moment(d.started)],
    ['Completed', d.completed && moment(d.completed)],
    ['Address', t.project],
  ]);
  show(p.filesBox, !!d.files?.length);
  text(p.filesSaid, summary(d.files ?? []));
  keep(p.files, d.files ?? [], (f) => f.name, file);
  text(p.stderr, d.stderr ?? '');
  show(p.stderrBox, !!d.stderr);
}

// group fills a list of terms, and shows its part of the drawer if there is one.
function group(box, list, all) {
  facts(list, all);
  show(box, list.children.length > 0);
}

const stateOf = (f) => f.error || (f.output ? (f.sent ? 'uploaded' : f.here ? 'to be uploaded' : 'not made yet') : f.here ? 'downloaded' : 'not downloaded yet');

// summary counts files by their states: "3 downloaded, 1 to be uploaded".
function summary(files) {
  const n = new Map();
  for (const f of files) n.set(f.error ? 'failed' : stateOf(f), (n.get(f.error ? 'failed' : stateOf(f)) ?? 0) + 1);
  return [...n].map(([state, times]) => `${times.toLocaleString()} ${state}`).join(', ');
}

function file(f) {
  const size = make('td', { class: 'num' }), state = make('td');
  const e = make('tr', {}, make('th', { scope: 'row' }, f.name), size, state);
  e.update = (f) => {
    text(size, f.size ? bytes(f.size) : '–');
    text(state, stateOf(f));
  };
  return e;
}
