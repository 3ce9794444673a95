// The first tab: what the agent is doing, what needs a person, and what it contributed.

import { make, text, show, keep } from './dom.js';
import { span, bytes, number, percent, count } from './words.js';
import { attention, notes, taskLink, projectLink } from './attention.js';
import { buildModes } from './modes.js';
import { buildWelcome } from './welcome.js';
import { headlines, titleOf } from './notices.js';
import { nameOf } from './model.js';
import { icon } from './icons.js';

const shown = 8; // running tasks
const narrow = matchMedia('(max-width: 40rem)');

const heads = ['Project', 'Total credit', 'Per day', 'This computer', 'CPU time'];

let bar, status, title, recent, wrong, figures, why, whyBox, opened, modes, running, all, idle, achieved, table, news, newsBox, welcome, work;

export function build(section) {
  title = make('h2', { id: 'now-title' }, '…');
  modes = buildModes();
  wrong = make('ul', { id: 'attention', class: 'whys', 'aria-label': 'Needs you' });
  welcome = buildWelcome();
  figures = make('dl', { id: 'figures', class: 'figures' });
  why = make('ul', { id: 'whys', class: 'whys' });
  whyBox = make('details', { id: 'whys-box', class: 'card' }, make('summary', { onclick: () => { opened = true; } }, 'Why the agent is not doing more'), why);
  running = make('ul', { id: 'running', class: 'rows' });
  all = make('a', { class: 'small', href: '/tasks' });
  idle = make('p', { class: 'empty none' }, 'No task is running.');
  recent = make('span', { class: 'small', id: 'recent' });
  table = make('tbody', { id: 'achieved' });
  achieved = make('div', { class: 'scroll' }, make('table', { class: 'plain stack' },
    make('thead', {}, make('tr', {}, ...heads.map((h, i) => make('th', { scope: 'col', class: i ? 'num' : undefined }, h)))), table));
  news = make('ul', { id: 'news', class: 'rows' });
  newsBox = make('div', { id: 'news-box', class: 'card', hidden: true }, make('header', {}, make('h2', {}, 'News'), make('a', { class: 'small', href: '/notices' }, 'All notices')), news);
  section.append(
    bar = make('div', { class: 'bar' }, status = make('div', { class: 'status' }, icon('check'), title), modes), wrong, welcome.element, figures, whyBox,
    work = make('div', { class: 'halves' },
      make('div', { class: 'card' }, make('header', {}, make('h2', {}, 'Running tasks'), all), idle, running),
      make('div', { class: 'card' }, make('header', {}, make('h2', {}, 'Contribution'), recent), achieved), newsBox));
}

export function gone() { document.body.classList.remove('first'); }

export function update(m) {
  text(title, headline(m));
  status.classList.toggle('still', !m.running.length);
  welcome.update(m);
  show(bar, m.projects.length > 0);
  show(figures, m.projects.length > 0);
  show(work, m.projects.length > 0);
  modes.update(m);
  keep(wrong, attention(m), (x) => x.key, problem);
  show(wrong, wrong.children.length > 0);
  keep(figures, figuresOf(m), ([name]) => name, figure);
  const reasons = notes(m);
  keep(why, reasons, (x) => x.key, () => {
    const e = make('li');
    e.update = (x) => text(e, x.text);
    return e;
  });
  show(whyBox, reasons.length > 0);
  if (!opened) whyBox.open = m.running.length < (narrow.matches ? 1 : m.cpus); // until a person has chosen
  const color = new Map(m.projects.map((p, i) => [p.master_url, `c${i + 1}`]));
  keep(running, m.running.slice(0, shown), (t) => t.key, (t) => row(t, color.get(t.project)));
  show(idle, !m.running.length);
  show(all, m.tasks.length > 0);
  text(all, `All ${count(m.tasks.length, 'task')}`);
  text(recent, lately(m.status.achieved));
  keep(table, m.projects, (p) => p.master_url, credit);
  show(achieved, m.projects.length > 0);
  const latest = headlines(m);
  keep(news, latest, (n) => String(n.seqno), (n) => make('li', {}, make('a', { href: '/notices' }, titleOf(n)), ' ', make('span', { class: 'small' }, n.project_name || n.project)));
  show(newsBox, latest.length > 0);
}

// figuresOf are the numbers at the top, as [name, number, note].
function figuresOf(m) {
  const waiting = m.tasks.filter((t) => t.status === 'paused' || t.status === 'waiting').length;
  const memory = m.memory ? `${bytes(m.memory)} of memory` : '';
  const hottest = Math.max(0, ...(m.status.gpus ?? []).map((g) => g.celsius ?? 0));
  const lost = m.status.unsaved_seconds;
  return [
    ['Running', count(m.running.length, 'task'), waiting ? `${waiting.toLocaleString()} more ${waiting === 1 ? 'is' : 'are'} waiting` : 'No other is waiting'],
    ['CPUs', `${m.cpus} of ${m.all_cpus}`, [...m.status.coprocs ?? [], m.cpu_temperature && memory].filter(Boolean).join(', ') || 'for tasks'],
    m.cpu_temperature ? ['Temperature', `${Math.round(m.cpu_temperature)} °C`, hottest ? `of the CPU. Hottest GPU: ${Math.round(hottest)} °C` : 'of the CPU'] : memory && ['Memory', bytes(m.memory), 'for tasks'],
    ['Shutting down now', lost >= 1 ? `Loses ${span(lost)}` : 'Loses nothing', lost >= 1 ? 'of computing, at most' + safe(m.status.drain) : 'Every task is saved'],
  ].filter(Boolean);
}

// safe returns when a shutdown will lose no work, if a drain has an estimate.
const safe = (drain) => (drain?.remaining_seconds ? `. Safe to shut down in about ${span(drain.remaining_seconds)}` : '');

function figure() {
  const name = make('dt'), number = make('dd'), note = make('dd', { class: 'note' });
  const e = make('div', { class: 'card figure' }, name, number, note);
  e.update = (f) => [name, number, note].forEach((part, i) => text(part, f[i]));
  return e;
}

// lately summarizes the tasks of the last days.
function lately(a) {
  if (!a) return 'No task was completed lately';
  const all = [`${a.finished.toLocaleString()} completed`, a.failed && `${a.failed.toLocaleString()} failed`, a.aborted && `${a.aborted.toLocaleString()} aborted`];
  return `${all.filter(Boolean).join(', ')} in ${count(a.days, 'day')}`;
}

function headline(m) {
  if (!m.projects.length) return 'Not attached to any project';
  const drain = m.status.drain;
  if (drain?.done) return 'Paused: everything is finished and reported';
  if (m.compute.why) return 'Computing is suspended';
  if (drain) return `Finishing: ${drain.left}`;
  return m.running.length ? `Computing ${count(m.running.length, 'task')}` : 'Nothing to compute';
}

function problem() {
  const what = make('strong'), cure = make('span', { class: 'cure' }), link = make('a');
  const e = make('li', { class: 'need' }, what, ' ', cure, ' ', link);
  e.update = (x) => {
    text(what, x.text);
    text(cure, x.cure ? `You can: ${x.cure}` : '');
    show(cure, !!x.cure);
    show(link, !!x.link);
    if (!x.link) return;
    text(link, `Show ${x.link.title}`);
    if (link.getAttribute('href') !== x.link.href) link.href = x.link.href;
  };
  return e;
}

function row(t, color) {
  const project = make('strong'), app = make('span'), done = make('span', { class: 'number' }), left = make('span', { class: 'number small left' });
  const bar = make('progress', { max: 1, 'aria-label': `Progress of ${t.name}` });
  const e = make('li', { class: 'task' }, make('span', { class: `key ${color}` }), make('div', {}, make('a', { href: taskLink(t) }, project, ' ', app), make('small', {}, t.name)), bar, done, left);
  e.update = (t) => {
    bar.value = t.fraction_done;
    text(project, t.projectName);
    text(app, t.app ?? '');
    text(done, percent(t.fraction_done));
    text(left, t.remaining_seconds > 0 ? `${span(t.remaining_seconds)} left` : '');
  };
  return e;
}

function credit(p) {
  const name = make('a', { href: projectLink(p) });
  const cells = heads.slice(1).map((h) => make('td', { class: 'num', 'data-label': h }));
  const e = make('tr', {}, make('th', { scope: 'row' }, name), ...cells);
  e.update = (p) => {
    text(name, nameOf(p));
    [number(p.user_total_credit), number(p.user_expavg_credit), number(p.host_total_credit), span(p.cpu_seconds)].forEach((t, i) => text(cells[i], t));
  };
  return e;
}
