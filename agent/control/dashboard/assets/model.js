// The data in the shape that the page needs. live.js provides the documents.

import { tr } from './language.js';

const natural = new Intl.Collator('en', { numeric: true }).compare;

// The states of a task, in the order of the table.
export const states = {
  running: tr('Running'), paused: tr('Paused'), waiting: tr('Waiting'), downloading: tr('Downloading'), uploading: tr('Uploading'),
  suspended: tr('Suspended'), aborting: tr('Aborting'), finished: tr('Finished'), failed: tr('Failed'),
};
export const stateRank = Object.fromEntries(Object.keys(states).map((s, i) => [s, i]));

// stateOf returns a task's state in one word for people. A paused task has been started.
export function stateOf(t) {
  if (t.ready_to_report) return t.failed ? 'failed' : 'finished';
  if (t.abort_at) return 'aborting';
  if (t.suspended && !t.running) return 'suspended';
  if (t.running) return 'running';
  if (t.state === 'uploading' || t.state === 'uploaded') return 'uploading';
  if (t.state === 'new' || t.state === 'downloading') return 'downloading';
  if (/abort|error|failed/.test(t.state)) return 'failed';
  return t.elapsed_seconds > 0 ? 'paused' : 'waiting';
}

const others = 5; // from this place on, projects share a color

let known = new Set(); // keys of tasks that have their rank

// newModel makes a model of a document. Each task gets its key, its rank in natural order, its state,
// the title of its application, its deadline in milliseconds, and its project's name and color. A
// project has the color of its place in the list on all pages.
export function newModel(doc) {
  const m = { ...doc.page, tasks: Object.values(doc.tasks), projects: Object.values(doc.projects), transfers: Object.values(doc.transfers) };
  const names = new Map(m.projects.map((p) => [p.master_url, nameOf(p)]));
  const keys = Object.keys(doc.tasks);
  if (keys.length !== known.size || keys.some((k) => !known.has(k) || doc.tasks[k].rank === undefined)) {
    known = new Set(keys);
    for (const k of keys) doc.tasks[k].key = k;
    // Sorting by names is slow with ten thousand tasks, so it is only done when the tasks change.
    m.tasks.sort((a, b) => natural(a.name, b.name)).forEach((t, i) => { t.rank = i; });
  }
  m.projects.sort((a, b) => natural(nameOf(a), nameOf(b)));
  m.projects.forEach((p, i) => { p.color = `c${Math.min(i + 1, others)}`; });
  const colors = new Map(m.projects.map((p) => [p.master_url, p.color]));
  for (const t of m.tasks) {
    t.status = stateOf(t);
    t.title = t.app_title || t.app || t.name;
    t.due = t.report_deadline ? Date.parse(t.report_deadline) : Infinity;
    t.projectName = names.get(t.project) ?? t.project;
    t.color = colors.get(t.project) ?? `c${others}`;
  }
  m.transfers.sort((a, b) => b.active - a.active || natural(a.name, b.name));
  m.running = m.tasks.filter((t) => t.running).sort((a, b) => a.rank - b.rank);
  const sum = (of) => m.projects.reduce((s, p) => s + of(p), 0);
  const shares = sum((p) => p.resource_share), cpu = sum((p) => p.cpu_seconds);
  for (const p of m.projects) {
    p.share = shares ? p.resource_share / shares : 0;
    p.got = cpu ? p.cpu_seconds / cpu : 0;
  }
  return m;
}

export const nameOf = (p) => p.name || p.master_url;

// projectState returns a project's state in a word or two, and whether it is good.
export function projectState(p) {
  if (p.detaching) return [tr('detaching'), false];
  if (p.ending) return [tr('resetting'), false];
  if (p.initialized && !p.host_id) return [tr('refused'), false];
  if (p.suspended) return [tr('suspended'), false];
  if (p.no_more_work) return [tr('no more work'), false];
  if (p.trouble) return [tr('problem'), false];
  if (p.failing) return [tr('failing'), false];
  return [p.initialized ? tr('attached') : tr('new'), true];
}
