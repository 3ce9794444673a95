// The first tab: what the agent is doing, what needs a person, and what it contributed.

import { make, svg, text, show, keep } from './dom.js';
import { tr, plural } from './language.js';
import { span, when, bytes, number, percent, relative, whole, list, youCan } from './words.js';
import { causeOf } from './spans.js';
import { stacked, creditOf } from './stack.js';
import { attention, notes, taskLink, projectLink } from './attention.js';
import { buildWelcome } from './welcome.js';
import { headlines, titleOf } from './notices.js';
import { nameOf } from './model.js';
import { icon } from './icons.js';

const shown = 8; // running tasks
const narrow = matchMedia('(max-width: 40rem)');

const days = 14; // of the chart
const heads = [tr('Project account'), tr('Share / actual'), tr('Per day'), tr('Total credit')];

let bar, status, others, title, recent, wrong, figures, chart, why, whyBox, opened, running, all, idle, achieved, table, news, newsBox, welcome, work;

export function build(section) {
  title = make('h2', { id: 'now-title' }, '…');
  wrong = make('ul', { id: 'attention', class: 'whys', 'aria-label': tr('Needs you') });
  others = make('button', { class: 'link', id: 'attention-more', onclick: () => { wrong.classList.add('all'); show(others, false); } });
  welcome = buildWelcome();
  figures = make('dl', { id: 'figures', class: 'figures' });
  why = make('ul', { id: 'whys', class: 'whys' });
  whyBox = make('details', { id: 'whys-box', class: 'card' }, make('summary', { onclick: () => { opened = true; } }, tr('Why the agent is not doing more')), why);
  running = make('ul', { id: 'running', class: 'rows' });
  all = make('a', { class: 'small', href: '/tasks' });
  idle = make('p', { class: 'empty none' }, tr('No task is running.'));
  recent = make('span', { class: 'small', id: 'recent' });
  table = make('tbody', { id: 'achieved' });
  chart = make('div', { id: 'credit-chart' });
  achieved = make('div', { class: 'scroll' }, make('table', { class: 'plain stack' },
    make('thead', {}, make('tr', {}, ...heads.map((h, i) => make('th', { scope: 'col', class: i ? 'num' : undefined }, h)))), table));
  news = make('ul', { id: 'news', class: 'rows' });
  newsBox = make('div', { id: 'news-box', class: 'card', hidden: true }, make('header', {}, make('h2', {}, tr('News')), make('a', { class: 'small', href: '/notices' }, tr('All notices'))), news);
  section.append(
    bar = make('div', { class: 'bar' }, status = make('div', { class: 'status' }, icon('check'), title), make('div', { class: 'tools', id: 'modes' })), wrong, others, welcome.element, figures, whyBox,
    work = make('div', { class: 'halves work' },
      make('div', { class: 'card' }, make('header', {}, make('h2', {}, tr('Running tasks')), all), idle, running),
      make('div', { class: 'card' }, make('header', {}, make('h2', {}, tr('Contribution')), recent), chart, achieved), newsBox));
}

export function gone() { document.body.classList.remove('first'); }

export function update(m) {
  text(title, headline(m));
  status.classList.toggle('still', !m.running.length);
  welcome.update(m);
  show(bar, m.projects.length > 0);
  show(figures, m.projects.length > 0);
  show(work, m.projects.length > 0);
  keep(wrong, attention(m), (x) => x.key, problem);
  show(wrong, wrong.children.length > 0);
  text(others, tr('And {n} more', { n: wrong.children.length - 1 }));
  show(others, wrong.children.length > 1 && !wrong.classList.contains('all'));
  keep(figures, figuresOf(m), ([name]) => name, figure);
  const reasons = notes(m);
  keep(why, reasons, (x) => x.key, () => {
    const e = make('li');
    e.update = (x) => text(e, x.text);
    return e;
  });
  show(whyBox, reasons.length > 0 && (m.running.length < m.cpus || !!m.network.why));
  if (!opened) whyBox.open = m.running.length < (narrow.matches ? 1 : m.cpus); // until a person has chosen
  keep(running, m.running.slice(0, shown), (t) => t.key, row);
  text(idle, m.tasks.length ? tr('No task is running.') : awaited(m));
  show(idle, !m.running.length);
  show(all, m.tasks.length > m.running.length || m.running.length > shown);
  text(all, m.running.length > shown ? plural(m.running.length, 'All {n} running task', 'All {n} running tasks') : plural(m.tasks.length, 'All {n} task', 'All {n} tasks'));
  all.href = m.running.length > shown ? '/tasks?show=running' : '/tasks';
  draw(m);
  text(recent, lately(m.status.achieved));
  keep(table, m.projects, (p) => p.master_url, credit);
  show(achieved, m.projects.length > 0);
  const latest = headlines(m);
  keep(news, latest, (n) => String(n.seqno), (n) => make('li', {}, make('a', { href: '/notices' }, titleOf(n)), ' ', make('span', { class: 'small' }, n.project_name || n.project)));
  show(newsBox, latest.length > 0);
}

// awaited names the projects whose first tasks are awaited.
function awaited(m) {
  const next = Math.min(...m.projects.map((p) => Date.parse(p.next_contact ?? '')).filter((t) => t > Date.now()));
  const first = tr('Waiting for the first tasks from {projects}.', { projects: list(m.projects.map(nameOf), 'disjunction') });
  return next < Infinity ? `${first} ${tr('Next request {time}.', { time: relative(next) })}` : first;
}

let drawn;

// draw draws the credit of the last days, if any was granted in them.
function draw(m) {
  const series = creditOf(m.projects, m.credit ?? {}, days, new Date());
  show(chart, series.length > 0);
  const now = JSON.stringify(series);
  if (series.length && now !== drawn) chart.replaceChildren(stacked(tr('Credit per day on this computer'), series));
  drawn = now;
}

// figuresOf are the numbers at the top, as [name, number, unit, note].
function figuresOf(m) {
  const waiting = m.tasks.filter((t) => t.status === 'paused' || t.status === 'waiting').length;
  const size = m.memory && bytes(m.memory), has = m.host.memory && bytes(m.host.memory);
  const memory = !m.memory ? '' : has ? tr('{size} of {all} of memory', { size, all: has }) : tr('{size} of memory', { size });
  const hottest = Math.max(0, ...(m.status.gpus ?? []).map((g) => g.celsius ?? 0));
  const lost = m.status.unsaved_seconds, least = Math.ceil(lost / 60) * 60; // in full minutes
  const limit = m.max_cpu_temperature;
  return [
    [tr('Running'), whole(m.running.length), plural(m.running.length, 'task', 'tasks'), waiting ? plural(waiting, '{n} more is waiting', '{n} more are waiting') : tr('No other is waiting')],
    [tr('CPUs'), String(m.cpus), tr('of {all}', { all: String(m.all_cpus) }), [...m.status.coprocs ?? [], m.cpu_temperature && memory].filter(Boolean).join(', ') || tr('for tasks')],
    m.cpu_temperature ? [narrow.matches ? tr('Temperature') : tr('CPU temperature'), String(Math.round(m.cpu_temperature)), '°C', [limit && tr('Pauses at {n} °C', { n: Math.round(limit) }), hottest && `GPU: ${Math.round(hottest)} °C`].filter(Boolean).join('. '), m.cpu_temperatures]
      : memory && [tr('Memory'), size, has ? tr('of {all}', { all: has }) : '', tr('for tasks')],
    [tr('Shutting down now'), lost >= 1 ? tr('Loses {time}', { time: span(lost < 60 ? lost : least) }) : tr('Loses nothing'), '', lost >= 1 ? atMost(m.status.drain?.remaining_seconds) : tr('Every task is saved')],
  ].filter(Boolean);
}

// atMost returns what is lost, and when a shutdown will lose no work, if a drain has an estimate.
const atMost = (left) => (left ? tr('of computing, at most. Safe to shut down in about {time}', { time: span(left) }) : tr('of computing, at most'));

function figure() {
  const name = make('dt'), number = make('span'), unit = make('span', { class: 'unit' }), note = make('span'), course = make('span');
  const e = make('div', { class: 'card figure' }, name, make('dd', {}, number, ' ', unit), make('dd', { class: 'note' }, note, course));
  let drawn;
  e.update = ([, ...parts]) => {
    text(name, e.dataset.key);
    [number, unit, note].forEach((part, i) => text(part, parts[i]));
    const values = (parts[3] ?? []).slice(-24).map((x) => x.celsius), now = values.join();
    if (now !== drawn) course.replaceChildren(...(values.length > 1 ? [spark(values)] : []));
    drawn = now;
  };
  return e;
}

// spark is the recent course of a value. It has no axis.
function spark(values) {
  const low = Math.min(...values), high = Math.max(...values);
  const points = values.map((v, i) => `${(96 * i) / (values.length - 1)} ${high > low ? 36 - (32 * (v - low)) / (high - low) : 20}`);
  return svg('svg', { class: 'spark', viewBox: '0 0 96 40', 'aria-hidden': 'true' }, svg('path', { d: `M${points.join('L')}` }));
}

// lately summarizes the tasks of the last days.
function lately(a) {
  if (!a) return tr('No task was completed lately');
  const all = [tr('{n} completed', { n: a.finished }), a.failed && tr('{n} failed', { n: a.failed }), a.aborted && tr('{n} aborted', { n: a.aborted })];
  return plural(a.days, '{tasks} in {n} day', '{tasks} in {n} days', { tasks: all.filter(Boolean).join(', ') });
}

function headline(m) {
  if (!m.projects.length) return tr('Not attached to any project');
  const drain = m.status.drain;
  if (drain?.done) return tr('Paused: nothing is left to finish or report');
  if (m.status.run_mode === 'never') return m.run_until ? tr('Paused by you until {time}', { time: when(m.run_until) }) : tr('Paused by you');
  if (m.compute.why) return tr('Suspended: {cause}', { cause: causeOf(m.status.compute_code) });
  if (drain) return tr('Finishing: {left}', { left: drain.left });
  return m.running.length ? plural(m.running.length, 'Computing {n} task', 'Computing {n} tasks') : tr('Nothing to compute');
}

function problem() {
  const what = make('strong'), cure = make('span', { class: 'cure' }), link = make('a');
  const e = make('li', { class: 'need' }, what, ' ', cure, ' ', link);
  e.update = (x) => {
    text(what, x.text);
    text(cure, youCan(x.cure));
    show(cure, !!x.cure);
    show(link, !!x.link);
    if (!x.link) return;
    text(link, tr('Show {page}', { page: x.link.title }));
    if (link.getAttribute('href') !== x.link.href) link.href = x.link.href;
  };
  return e;
}

function row(t) {
  const project = make('strong'), app = make('span'), done = make('span', { class: 'number' }), left = make('span', { class: 'number small left' });
  const bar = make('progress', { max: 1, 'aria-label': tr('Progress of {task}', { task: t.name }) });
  const e = make('li', { class: 'task' }, make('span', { class: `key ${t.color}` }), make('div', {}, make('a', { href: taskLink(t) }, project, ' ', app), make('small', {}, t.resources ? `${t.name} · GPU` : t.name)), bar, done, left);
  e.update = (t) => {
    bar.value = t.fraction_done;
    text(project, t.projectName);
    text(app, t.title);
    text(done, percent(t.fraction_done));
    text(left, t.remaining_seconds > 0 ? tr('{time} left', { time: span(t.remaining_seconds) }) : '');
  };
  return e;
}

function credit(p) {
  const key = make('span'), name = make('a', { href: projectLink(p) });
  const actual = make('span', { class: 'soft' }), share = make('span');
  const cells = heads.slice(1).map((h) => make('td', { class: 'num', 'data-label': h }));
  cells[0].append(share, actual);
  const e = make('tr', {}, make('th', { scope: 'row' }, key, name), ...cells);
  e.update = (p) => {
    key.className = `key ${p.color}`;
    text(name, nameOf(p));
    text(share, String(Math.round(100 * p.share)));
    text(actual, ` / ${percent(p.got)}`);
    text(cells[1], number(p.user_expavg_credit));
    text(cells[2], number(p.user_total_credit));
  };
  return e;
}
