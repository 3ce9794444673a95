// The tab of the log, with search and a filter by level.

import { make, text, show } from './dom.js';
import { tr, plural } from './language.js';
import { when, whole } from './words.js';
import { newTable } from './virtual.js';
import { openDrawer, close } from './drawer.js';
import { nameOf } from './model.js';
import { go } from './address.js';

const most = 10000; // lines that are kept

let lines = [], names = new Map(), words = [], level = 1, table, number, empty, section, toEnd = true, drawn = false;

export function build(s) {
  section = s;
  number = make('span', { class: 'count', id: 'log-count' });
  empty = make('p', { class: 'empty' }, tr('No messages.'));
  const search = make('input', { id: 'log-search', type: 'search', placeholder: tr('Search'), 'aria-label': tr('Search the log'), autocomplete: 'off', oninput: () => { words = search.value.toLowerCase().split(/\s+/).filter(Boolean); toEnd = true; draw(); } });
  const filter = make('select', { id: 'log-level', 'aria-label': tr('Level'), onchange: () => { level = Number(filter.value); toEnd = true; draw(); } },
    make('option', { value: 1 }, tr('All messages')), make('option', { value: 2 }, tr('Warnings and errors')), make('option', { value: 3 }, tr('Errors')));
  table = newTable({ id: 'log-table', label: tr('Lines of the log'), key: (m) => m.seqno, create, fill });
  table.head.append(...[[tr('Time'), 'c-time'], [tr('Level'), 'c-level'], [tr('Project'), 'c-project'], [tr('Message'), 'c-text']].map(([h, c]) => make('th', { scope: 'col', class: c }, h)));
  section.append(make('div', { class: 'bar' }, make('h2', {}, tr('Log'), ' ', number), make('div', { class: 'tools' }, search, filter)), empty, table.element);
}

const levels = { INFO: 1, WARN: 2, ERROR: 3 };
const shown = { INFO: tr('Info'), WARN: tr('Warning'), ERROR: tr('Error'), DEBUG: tr('Debug') };
const about = (m) => names.get(m.project) ?? m.project ?? '';

function create(m) {
  const open = make('a', { href: `/log?line=${m.seqno}` }, m.text);
  return make('tr', { class: levels[m.level] > 1 ? 'act' : undefined }, make('td', { class: 'c-time' }, make('time', { datetime: m.time })), make('td', { class: 'c-level' }, shown[m.level] ?? m.level),
    make('td', { class: 'c-project' }), make('td', { class: 'c-text', title: m.text }, open));
}

function fill(row, m) {
  text(row.children[0].firstChild, when(m.time));
  text(row.children[2], about(m));
}

function draw() {
  drawn = true;
  const found = lines.filter((m) => (levels[m.level] ?? 0) >= level || level === 1)
    .filter((m) => words.every((w) => `${m.text} ${about(m)}`.toLowerCase().includes(w)));
  text(number, found.length === lines.length ? whole(lines.length) : plural(lines.length, '{found} of {n} line', '{found} of {n} lines', { found: found.length }));
  show(empty, !found.length);
  show(table.element, found.length > 0);
  const e = table.element;
  table.set(found);
  if (!toEnd || !e.clientHeight) return;
  e.scrollTop = e.scrollHeight;
  table.refresh();
}

export function messages(more, first) {
  const e = table.element;
  if (e.clientHeight) toEnd = e.scrollHeight - e.scrollTop - e.clientHeight < 40;
  lines = (first ? [] : lines).concat(more).slice(-most);
  drawn = false;
  if (!section.hidden) draw();
}

export function update(m, params) {
  names = new Map(m.projects.map((p) => [p.master_url, nameOf(p)]));
  if (!drawn) draw();
  const line = lines.find((l) => String(l.seqno) === params.get('line'));
  if (!line) {
    close();
    return;
  }
  const { body, fresh } = openDrawer(`line ${line.seqno}`, tr('Message'), () => go('/log'));
  if (!fresh) return;
  body.append(make('p', { class: 'small' }, [when(line.time), shown[line.level] ?? line.level, about(line)].filter(Boolean).join(' · ')), make('p', { class: 'whole' }, line.text));
}

export function gone() {
  toEnd = true;
  drawn = false;
  close();
}
