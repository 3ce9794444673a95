// The first tab: is all well, what is the agent doing, what did it achieve.

import { make, text, show, keep } from './dom.js';
import { span, bytes, number, percent, count } from './words.js';
import { attention, notes, taskLink, projectLink } from './attention.js';
import { buildModes } from './modes.js';
import { openAttach } from './attach.js';
import { headlines, titleOf } from './notices.js';
import { nameOf } from './model.js';

const shown = 12; // running tasks
const narrow = matchMedia('(max-width: 40rem)');

const achievedHeads = ['Project', 'Credit', 'Average a day', 'This computer', 'CPU time'];

let title, about, recent, well, wrong, why, whyBox, opened, modes, running, more, idle, achieved, table, news, newsBox;

export function build(section) {
  title = make('h2', { id: 'now-title' }, '…');
  about = make('p', { id: 'now-text' });
  recent = make('p', { class: 'small', id: 'recent' });
  well = make('p', { id: 'well', hidden: true }, 'Everything is working.');
  wrong = make('ul', { id: 'attention', class: 'whys', 'aria-label': 'Needs attention' });
  why = make('ul', { id: 'whys', class: 'whys' });
  whyBox = make('details', { id: 'whys-box' }, make('summary', { onclick: () => { opened = true; } }, 'Why the agent is not doing more'), why);
  modes = buildModes();
  const choice = make('details', { id: 'modes-box' }, make('summary', {}, 'Modes'), modes);
  const broad = matchMedia('(min-width: 40.01rem)'); // on a phone the tasks come first
  choice.open = broad.matches;
  broad.addEventListener('change', () => { choice.open = broad.matches; });
  const attach = make('button', { class: 'primary', id: 'first-attach', hidden: true, onclick: openAttach }, 'Attach project');
  running = make('ul', { id: 'running', class: 'rows' });
  more = make('p', { class: 'small' }, make('a', { href: '/tasks' }));
  idle = make('p', { class: 'empty' }, 'No task is running.');
  table = make('tbody', { id: 'achieved' });
  const heads = achievedHeads.map((h, i) => make('th', { scope: 'col', class: i ? 'num' : undefined }, h));
  achieved = make('div', { class: 'scroll' }, make('table', { class: 'plain stack' }, make('thead', {}, make('tr', {}, ...heads)), table));
  news = make('ul', { id: 'news', class: 'rows' });
  newsBox = make('div', { id: 'news-box', hidden: true }, make('h2', {}, 'News'), news, make('p', { class: 'small' }, make('a', { href: '/notices' }, 'All notices')));
  section.append(
    make('div', { class: 'hero' }, title, about, well, wrong, whyBox, attach, choice),
    make('div', { class: 'halves' },
      make('div', {}, make('h2', {}, 'Running tasks'), idle, running, more),
      make('div', {}, make('h2', {}, 'Achieved'), recent, achieved), newsBox));
  section.update = (m) => show(attach, !m.projects.length);
  build.section = section;
}

export function update(m) {
  build.section.update(m);
  text(title, headline(m));
  const facts = [`Tasks may use ${m.cpus} of ${count(m.all_cpus, 'CPU')}`];
  facts.push(...m.status.coprocs ?? []);
  if (m.memory) facts.push(`${bytes(m.memory)} of memory`);
  if (m.cpu_temperature) facts.push(`CPU at ${Math.round(m.cpu_temperature)} °C`);
  const hottest = Math.max(0, ...(m.status.gpus ?? []).map((g) => g.celsius ?? 0));
  if (hottest) facts.push(`GPU at ${Math.round(hottest)} °C`);
  const lost = m.status.unsaved_seconds >= 1 ? `at most ${span(m.status.unsaved_seconds)} of computing` : 'nothing';
  text(about, `${facts.join(', ')}. A shutdown now would lose ${lost}.`);
  const problems = attention(m);
  keep(wrong, problems, (x) => x.key, problem);
  show(wrong, problems.length > 0);
  show(well, !problems.length && m.running.length > 0 && !m.compute.why);
  const reasons = notes(m);
  keep(why, reasons, (x) => x.key, () => {
    const e = make('li');
    e.update = (x) => text(e, x.text);
    return e;
  });
  show(whyBox, reasons.length > 0);
  if (!opened) whyBox.open = m.running.length < (narrow.matches ? 1 : m.cpus); // until a person has chosen
  modes.update(m);
  keep(running, m.running.slice(0, shown), (t) => t.key, row);
  show(idle, !m.running.length);
  show(more, m.tasks.length > 0);
  text(more.firstElementChild, m.running.length > shown ? `All ${count(m.running.length, 'running task')}, of ${count(m.tasks.length, 'task')}` : `All ${count(m.tasks.length, 'task')}`);
  text(recent, lately(m.status.achieved));
  keep(table, m.projects, (p) => p.master_url, credit);
  show(achieved, m.projects.length > 0);
  const latest = headlines(m);
  keep(news, latest, (n) => String(n.seqno), (n) => make('li', {}, make('a', { href: '/notices' }, titleOf(n)), ' ', make('span', { class: 'small' }, n.project_name || n.project)));
  show(newsBox, latest.length > 0);
}

// lately says what ended in the last days.
function lately(a) {
  if (!a) return 'No task has ended in the last days.';
  const others = [a.failed && `${a.failed.toLocaleString()} failed`, a.aborted && `${a.aborted.toLocaleString()} aborted`].filter(Boolean);
  return `In the last ${count(a.days, 'day')}: ${[`${count(a.finished, 'task')} finished`, ...others].join(', ')}, with ${span(a.cpu_seconds)} of CPU time.`;
}

function headline(m) {
  if (!m.projects.length) return 'Not attached to any project';
  if (m.compute.why) return 'Computing is suspended';
  return m.running.length ? `Computing ${count(m.running.length, 'task')}` : 'Nothing to compute';
}

function problem() {
  const what = make('strong'), cure = make('span', { class: 'cure' }), link = make('a');
  const e = make('li', { class: 'stop' }, what, ' ', cure, ' ', link);
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

function row(t) {
  const name = make('a', { href: taskLink(t) }, t.name);
  const where = make('span', { class: 'small' }), left = make('span', { class: 'small number' });
  const bar = make('progress', { max: 1, 'aria-label': `Progress of ${t.name}` });
  const e = make('li', {}, make('div', { class: 'top' }, make('span', {}, name, ' ', where), left), bar);
  e.update = (t) => {
    bar.value = t.fraction_done;
    text(where, [t.projectName, t.app].filter(Boolean).join(' · '));
    text(left, percent(t.fraction_done, 1) + (t.remaining_seconds > 0 ? `, ${span(t.remaining_seconds)} remaining` : ''));
  };
  return e;
}

function credit(p) {
  const name = make('a', { href: projectLink(p) });
  const cells = achievedHeads.slice(1).map((h) => make('td', { class: 'num', 'data-label': h }));
  const e = make('tr', {}, make('th', { scope: 'row' }, name), ...cells);
  e.update = (p) => {
    text(name, nameOf(p));
    [number(p.user_total_credit), number(p.user_expavg_credit), number(p.host_total_credit), span(p.cpu_seconds)].forEach((t, i) => text(cells[i], t));
  };
  return e;
}
