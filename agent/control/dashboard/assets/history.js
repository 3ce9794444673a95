// The tab of the history, with the computer's activities of the last days and the ended tasks. It
// asks for both when it is opened and now and then. It fetches older tasks page by page as a person
// scrolls to them.

import { make, text, show } from './dom.js';
import { icon } from './icons.js';
import { tr } from './language.js';
import { span, relative, date, moment, whole } from './words.js';
import { call } from './ask.js';
import { newTable } from './virtual.js';
import { close } from './drawer.js';
import { go } from './address.js';
import { newList } from './spans.js';
import { newBands, midnights } from './bands.js';
import { keyOf, isOf, fromKey, pastLink, projectOf, outcome, cause, shade, showPast } from './past.js';

const days = 7, page = 200, often = 30e3; // milliseconds between questions

let section, number, faultBox, fault, bands, list, timeEmpty, table, empty, box, model;
let tasks = [], next = 0, asked = 0, loading = false, wanted = '', search = '', other; // other is a task that was looked for: {key, task, known}

export function build(s) {
  section = s;
  number = make('span', { class: 'count', id: 'history-count' });
  fault = make('span');
  faultBox = make('p', { class: 'bad', role: 'status', hidden: true }, tr('The history could not be loaded.'), ' ', fault, ' ', make('button', { onclick: () => { asked = 0; load(); } }, tr('Try again')));
  bands = newBands();
  list = newList();
  list.className = 'unseen';
  timeEmpty = make('p', { class: 'empty', hidden: true }, tr('The timeline starts today.'));
  empty = make('p', { class: 'empty', hidden: true, id: 'history-empty' });
  box = make('input', { id: 'history-search', type: 'search', placeholder: tr('Search'), 'aria-label': tr('Search completed tasks'), autocomplete: 'off', oninput: look });
  table = newTable({ id: 'history-table', label: tr('Completed tasks'), key: keyOf, create, fill });
  table.element.classList.add('two');
  table.head.append(...heads.map(([h, c]) => make('th', { scope: 'col', class: c }, h)));
  table.element.addEventListener('scroll', older, { passive: true });
  section.append(
    make('div', { class: 'bar' }, make('h2', {}, tr('Last {n} days', { n: days })), bands.legend), faultBox, timeEmpty, bands.element, list,
    make('div', { class: 'card' },
      make('header', {}, make('h2', {}, tr('Completed tasks'), ' ', number), make('div', { class: 'tools' }, make('label', { class: 'search' }, icon('search'), box),
        make('a', { class: 'button', href: '/api/history.csv', download: 'starling-history.csv', id: 'history-csv' }, tr('Export CSV')))),
      empty, table.element));
}

// say shows why something could not be loaded, or nothing.
function say(why) {
  text(fault, why);
  show(faultBox, why !== '');
}

const heads = [[tr('Task'), 'c-name'], [tr('Outcome'), 'c-outcome'], [tr('Reason'), 'c-why'], [tr('Finished'), 'c-deadline num'], [tr('Elapsed'), 'c-elapsed num'], [tr('CPU time'), 'c-cpu num']];

function create(t) {
  const cells = heads.map(([, c]) => make('td', { class: c }));
  const color = model?.projects.find((p) => p.master_url === t.project)?.color ?? '';
  cells[0].append(make('a', { href: pastLink(t), title: t.name }, make('span', { class: `key ${color}` }), make('strong', {}, projectOf(t)), ' ', make('span', {}, t.app_title || t.app || '')), make('small', {}, t.name));
  cells[1].append(make('span'));
  return make('tr', {}, ...cells);
}

// finishedAt is "12 min ago", or from yesterday on the date.
function finishedAt(t) {
  const at = Date.parse(t.finished);
  return new Date(at).toDateString() === new Date().toDateString() ? relative(at) : date(at);
}

function fill(row, t) {
  const state = row.children[1].firstChild;
  text(state, outcome(t));
  state.className = shade(t);
  [cause(t), t.finished ? finishedAt(t) : '–', t.elapsed_seconds ? span(t.elapsed_seconds) : '–', t.cpu_seconds ? span(t.cpu_seconds) : '–'].forEach((v, i) => text(row.children[i + 2], v));
  row.children[2].title = cause(t);
  row.children[3].title = t.finished ? moment(t.finished) : '';
}

function draw() {
  text(number, next ? `${whole(tasks.length)}+` : whole(tasks.length));
  text(empty, next ? tr('Searching…') : search ? tr('No completed task matches “{search}”.', { search }) : `${tr('No tasks have ended yet.')}${firstOne()}`);
  show(empty, !tasks.length);
  show(table.element, tasks.length > 0);
  table.set(tasks);
  if (next) table.element.querySelector('table').setAttribute('aria-rowcount', -1); // not known
}

// firstOne returns the time that the first task still takes, if one runs.
function firstOne() {
  const left = Math.min(...(model?.running ?? []).map((t) => t.remaining_seconds).filter((s) => s > 0));
  return left < Infinity ? ` ${tr('The first one takes about {time}.', { time: span(left) })}` : '';
}

const query = (q) => new URLSearchParams(Object.entries(q).filter(([, v]) => v));

// newest asks for the first page and puts it before the known tasks. It also replaces known tasks
// with those of the page, because they may have been reported since.
async function newest() {
  const mine = search;
  const h = await call(`/api/history?${query({ limit: page, search })}`);
  if (mine !== search) return; // a person looks for something else by now
  const fresh = new Set(h.tasks.map(keyOf));
  const rest = tasks.filter((t) => !fresh.has(keyOf(t)));
  if (rest.length === tasks.length) { // none was known: others may have ended in between
    tasks = h.tasks;
    next = h.next ?? 0;
  } else tasks = h.tasks.concat(rest);
  draw();
}

// older asks for the next page when a person is near the end of the last one.
async function older() {
  const e = table.element;
  if (!next || loading || tasks.length && e.scrollHeight - e.scrollTop - e.clientHeight >= 2 * e.clientHeight) return;
  const mine = search;
  loading = true;
  try {
    const h = await call(`/api/history?${query({ limit: page, before: next, search })}`);
    if (mine === search) {
      const known = new Set(tasks.map(keyOf));
      tasks = tasks.concat(h.tasks.filter((t) => !known.has(keyOf(t))));
      next = h.next ?? 0;
      draw();
    }
  } catch (e) {
    say(e.message);
    return;
  } finally {
    loading = false;
  }
  older();
}

// look shows the tasks that match what a person typed, of all that have ended.
async function look() {
  search = box.value.trim();
  tasks = [];
  next = 0;
  try {
    await newest();
    say('');
  } catch (e) {
    say(e.message);
  }
  older();
}

// timeline asks for all spans of the last days and draws them.
async function timeline() {
  const edges = midnights(Date.now(), days), since = new Date(edges[0]).toISOString();
  let spans = [], before = 0;
  do {
    const t = await call(`/api/timeline?${query({ since, before })}`);
    spans = spans.concat(t.spans);
    before = t.spans.length ? t.next : 0; // an empty page: the others are older still
  } while (before);
  show(timeEmpty, !spans.length);
  for (const e of [bands.element, bands.legend]) show(e, spans.length > 0);
  bands.set(spans, edges);
  list.set(spans);
}

async function load() {
  if (loading || Date.now() - asked < often) return;
  loading = true;
  asked = Date.now();
  try {
    await Promise.all([newest(), timeline()]);
    say('');
  } catch (e) {
    say(e.message);
  } finally {
    loading = false;
  }
  drawer();
  older(); // a person may have scrolled meanwhile
}

// drawer shows the task of the address, which may be older than those of the table.
function drawer() {
  if (section.hidden) return;
  if (!wanted) {
    close();
    return;
  }
  const t = tasks.find((t) => isOf(t, wanted)) ?? (other?.key === wanted ? other.task : undefined);
  if (!t && other?.key !== wanted) find(wanted);
  else if (t || other.known) showPast(wanted, t, () => go('/history'));
}

// find asks for a task that the table does not have.
async function find(key) {
  const mine = { key }, [project, task] = fromKey(key);
  other = mine;
  try {
    let before = 0;
    do {
      const h = await call(`/api/history?${query({ project, task, before })}`);
      mine.task = h.tasks.find((t) => isOf(t, key));
      before = h.next;
    } while (before && !mine.task);
    mine.known = true;
    drawer();
  } catch (e) {
    say(e.message);
  }
}

export function update(m, params) {
  model = m;
  wanted = params.get('task') ?? '';
  load();
  drawer();
}

export function gone() {
  asked = 0;
  other = undefined;
  close();
}
