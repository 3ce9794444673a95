// The drawer of a task, with all of the agent's data about it.

import { make, text, show, swap, keep, facts } from './dom.js';
import { tr, plural, rich } from './language.js';
import { icon } from './icons.js';
import { span, bytes, number, percent, reason, relative, moment, energy, youCan, whole } from './words.js';
import { call, say, complain } from './ask.js';
import { openDrawer, isOpen } from './drawer.js';
import { states } from './model.js';
import { steerTasks } from './select.js';

const often = 2000; // milliseconds between questions for the details

let parts, detail, asked = 0;

// showTask opens the drawer for the task of a key, or updates it.
export function showTask(key, model, closed) {
  const t = model.tasks.find((t) => t.key === key);
  const { body, fresh } = openDrawer(`task ${key}`, t?.title ?? tr('Task'), closed, t);
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
    id: make('code'), done: make('span', { class: 'big' }), dot: make('span'), state: make('span'), bar: make('progress', { max: 1, 'aria-label': tr('Progress') }),
    left: make('span'), due: make('span'), why: make('p', { id: 'task-why' }), late: make('p', { class: 'late' }),
    time: make('dl'), uses: make('dl'), details: make('dl'), filesSaid: make('span', { class: 'count' }), files: make('tbody'),
    stderr: make('pre', { tabindex: 0, id: 'task-stderr', 'aria-label': tr('Output to stderr') }), loses: make('p', { class: 'small' }), past: make('a', {}, tr('Show it in History')),
  };
  p.missing = make('p', { class: 'empty' }, ...rich('This task was reported and has left the list. {link}.', { link: p.past }));
  const button = (name, label, action) => make('button', { onclick: () => steerTasks([p.task], action) }, name && icon(name), label);
  p.suspend = button('pause', tr('Suspend'), 'suspend');
  p.resume = button('resume', tr('Resume'), 'resume');
  p.abort = button('', tr('Abort…'), 'abort soon');
  p.abort.classList.add('danger');
  p.stderrBox = make('div', {}, make('h3', {}, tr('Output (end of stderr)')), p.stderr);
  p.timeBox = make('section', {}, make('h3', {}, tr('Time')), p.time);
  p.usesBox = make('section', {}, make('h3', {}, tr('Uses')), p.uses);
  p.filesBox = make('details', {}, make('summary', {}, make('h3', {}, tr('Files')), ' ', p.filesSaid), make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': tr('Files') },
    make('table', { class: 'plain' }, make('thead', {}, make('tr', {}, ...[tr('File'), tr('Size'), tr('State')].map((h) => make('th', { scope: 'col' }, h)))), p.files)));
  p.end = make('div', { class: 'end' }, p.abort, p.loses);
  p.there = make('div', { class: 'parts', id: 'task-facts' },
    make('div', {}, make('p', { class: 'ends' }, p.id, make('button', { class: 'square', 'aria-label': tr('Copy the task ID'), title: tr('Copy the task ID'), onclick: () => copy(p.task.name) }, icon('copy'))),
      make('div', { class: 'ends' }, make('p', { class: 'now' }, p.done, p.dot, p.state), p.suspend, p.resume), p.bar, make('p', { class: 'ends small' }, p.left, p.due), p.why, p.late),
    p.timeBox, p.usesBox, p.filesBox,
    make('details', { id: 'task-details' }, make('summary', {}, make('h3', {}, tr('Technical details')), ' ', make('span', { class: 'count' }, tr('workunit, process, output'))), p.details, p.stderrBox),
    p.end);
  body.append(p.missing, p.there);
  return p;
}

const copy = (name) => navigator.clipboard.writeText(name).then(() => say(tr('The task ID was copied.')), () => complain(tr('The browser did not copy the task ID.')));

function draw(t) {
  const p = parts, d = detail ?? {};
  text(p.id, t.name);
  text(p.done, percent(t.fraction_done));
  p.dot.className = `dot ${t.status}`;
  text(p.state, states[t.status]);
  p.bar.value = t.fraction_done;
  p.there.classList.toggle('resting', !t.running);
  text(p.left, t.remaining_seconds > 0 && t.fraction_done < 1 ? tr('{time} remaining', { time: span(t.remaining_seconds) }) : '');
  const due = t.report_deadline && { distance: relative(t.due), time: moment(t.due) };
  text(p.due, !due ? '' : t.due < Date.now() ? tr('Was due {distance}, {time}', due) : tr('Due {distance}, {time}', due));
  const paragraph = (...sentences) => sentences.filter(Boolean).join(' ');
  text(p.why, t.running && !t.late_seconds ? '' : paragraph(reason(t.why, d.reason?.until), youCan(t.cure)));
  text(p.late, t.late_seconds > 0 ? paragraph(tr('It will be about {time} late.', { time: span(t.late_seconds) }), youCan(t.late_cure)) : '');
  const over = t.ready_to_report || t.status === 'uploading' || t.status === 'failed';
  swap(p.resume, p.suspend, !!t.suspended || !!t.abort_at);
  if (over) for (const b of [p.resume, p.suspend]) show(b, false);
  show(p.end, !over && !t.abort_at);
  text(p.loses, paragraph(t.elapsed_seconds > 0 && tr('Discards {time} of computing.', { time: span(t.elapsed_seconds) }), tr('The project gives the task to another computer.')));
  const unsaved = d.checkpoint_elapsed_seconds > 0 ? t.elapsed_seconds - d.checkpoint_elapsed_seconds : 0;
  group(p.timeBox, p.time, [
    [tr('Elapsed'), t.elapsed_seconds > 0 && `${span(t.elapsed_seconds)}${d.started ? ',' : ''}`, d.started && tr('since {time}', { time: moment(d.started) })],
    [tr('CPU time'), t.cpu_seconds > 0 && span(t.cpu_seconds)],
    [tr('Energy'), energy(t)],
    [tr('Last checkpoint'), d.checkpoint_elapsed_seconds > 0 ? (t.running ? tr('{time} ago', { time: span(Math.max(0, unsaved)) }) : tr('after {time}', { time: span(d.checkpoint_elapsed_seconds) })) : t.elapsed_seconds > 0 && !over && detail && tr('none yet')],
    [tr('Shutting down now'), t.running && (t.unsaved_seconds >= 1 ? tr('loses {time} of this task', { time: span(t.unsaved_seconds) }) : tr('loses nothing of this task'))],
  ]);
  const most = (n) => n && tr('of at most {size}', { size: bytes(n) });
  group(p.usesBox, p.uses, [
    [tr('Processor'), t.resources || d.cpus && plural(d.cpus, '{n} CPU', '{n} CPUs', { n: number(d.cpus) })],
    [tr('Memory'), d.memory > 0 && bytes(d.memory), most(d.memory_bound)],
    [tr('Disk'), d.disk > 0 && bytes(d.disk), most(d.disk_bound)],
  ]);
  facts(p.details, [
    [tr('Application'), [t.app, d.version].filter(Boolean).join(' ')],
    [tr('Peak memory'), d.memory_peak > 0 && bytes(d.memory_peak)],
    [tr('Workunit'), d.workunit],
    [tr('Slot'), t.slot >= 0 && String(t.slot)],
    [tr('Process'), t.pid && String(t.pid)],
    [tr('Exit status'), (t.exit_status || t.failed) && String(t.exit_status ?? 0)],
    [tr('Received'), d.received && moment(d.received)],
    [tr('Started'), d.started && moment(d.started)],
    [tr('Completed'), d.completed && moment(d.completed)],
    [tr('Address'), t.project],
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

const stateOf = (f) => f.error || (f.output ? (f.sent ? tr('uploaded') : f.here ? tr('to be uploaded') : tr('not made yet')) : f.here ? tr('downloaded') : tr('not downloaded yet'));

// summary counts files by their states: "3 downloaded, 1 to be uploaded".
function summary(files) {
  const n = new Map();
  for (const f of files) {
    const state = f.error ? tr('failed') : stateOf(f);
    n.set(state, (n.get(state) ?? 0) + 1);
  }
  return [...n].map(([state, times]) => `${whole(times)} ${state}`).join(', ');
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
