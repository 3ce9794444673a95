// The tab of tasks: a table with search, groups and a selection, and a drawer for one.

import { $, make, text, show } from './dom.js';
import { count } from './words.js';
import { newTable } from './virtual.js';
import { columns } from './columns.js';
import { arrange } from './arrange.js';
import { newSelection } from './select.js';
import { showTask } from './task.js';
import { close } from './drawer.js';
import { go } from './address.js';

// What a person chose, kept by the browser.
const kept = (() => { try { return JSON.parse(localStorage.getItem('tasks') ?? '{}'); } catch { return {}; } })();
const how = { search: '', sort: kept.sort ?? '', down: !!kept.down, group: kept.group ?? 'both', closed: new Set(kept.closed ?? []) };
let chosen = new Set(kept.columns ?? columns.filter((c) => c.shown).map((c) => c.id));

function keepChoice() {
  const choice = JSON.stringify({ sort: how.sort, down: how.down, group: how.group, closed: [...how.closed], columns: [...chosen] });
  try { localStorage.setItem('tasks', choice); } catch { /* a browser that keeps nothing */ }
}

let model, table, selection, number, empty, all;

export function build(section) {
  number = make('span', { class: 'count', id: 'tasks-count' });
  empty = make('p', { class: 'empty', id: 'tasks-empty' });
  const search = make('input', { id: 'tasks-search', type: 'search', placeholder: 'Search', 'aria-label': 'Search tasks', autocomplete: 'off', oninput: () => { how.search = search.value; redraw(); } });
  const group = make('select', { id: 'tasks-group', 'aria-label': 'Group tasks', onchange: () => { how.group = group.value; keepChoice(); redraw(); } },
    ...Object.entries({ both: 'By project and state', project: 'By project', state: 'By state', none: 'No groups' }).map(([value, label]) => make('option', { value }, label)));
  group.value = how.group;
  const choice = columns.filter((c) => !c.always).map((c) => {
    const box = make('input', { type: 'checkbox', name: c.id, onchange: () => { if (box.checked) chosen.add(c.id); else chosen.delete(c.id); keepChoice(); headings(); rebuild(); } });
    box.checked = chosen.has(c.id);
    return make('label', {}, box, ` ${c.label}`);
  });
  table = newTable({ id: 'tasks-table', label: 'List of tasks', key: (x) => (x.group === undefined ? x.key : `group ${x.group}`), create, fill });
  selection = newSelection(() => table.refresh(), () => model?.tasks ?? []);
  section.append(
    make('div', { class: 'bar' }, make('h2', {}, 'Tasks ', number),
      make('div', { class: 'tools' }, search, group, make('details', { class: 'menu', id: 'tasks-columns' }, make('summary', { class: 'button' }, 'Columns'), make('div', {}, ...choice)))),
    selection.element, empty, table.element);
  all = make('input', { type: 'checkbox', 'aria-label': 'Select all tasks shown', onchange: () => selection.set(arranged.found, all.checked) });
  headings();
  phone.addEventListener('change', () => { headings(); rebuild(); });
}

function headings() {
  table.head.replaceChildren(make('th', { scope: 'col', class: 'c-select' }, all), ...visible().map((c) => {
    const sorted = how.sort === c.id;
    return make('th', { scope: 'col', class: classOf(c), 'aria-sort': sorted ? (how.down ? 'descending' : 'ascending') : 'none' },
      make('button', { class: 'sort', onclick: () => sort(c.id) }, c.label, make('span', { 'aria-hidden': 'true' }, sorted ? (how.down ? ' ▼' : ' ▲') : '')));
  }));
}

const phone = matchMedia('(max-width: 40rem)');
const visible = () => columns.filter((c) => (phone.matches ? c.narrow : c.always || chosen.has(c.id)));
const classOf = (c) => `c-${c.id}${c.number ? ' num' : ''}`;

// sort goes by a column upwards, downwards, and then by none.
function sort(id) {
  if (how.sort !== id) Object.assign(how, { sort: id, down: false });
  else if (!how.down) how.down = true;
  else Object.assign(how, { sort: '', down: false });
  keepChoice();
  headings();
  table.head.querySelector(`.c-${id} button`).focus();
  redraw();
}

// rebuild makes all rows anew, for other columns.
function rebuild() {
  table.set([]);
  redraw();
}

function create(x) {
  if (x.group !== undefined) {
    const toggle = make('button', { class: 'group', onclick: () => { if (!how.closed.delete(x.group)) how.closed.add(x.group); keepChoice(); redraw(); } },
      make('span', { 'aria-hidden': 'true' }), make('span'), make('span', { class: 'count' }));
    return make('tr', { class: `group level${x.level}` }, make('td', { colspan: visible().length + 1 }, toggle));
  }
  const box = make('input', { type: 'checkbox', 'aria-label': `Select ${x.name}`, onclick: (e) => selection.toggle(x.key, box.checked, e.shiftKey, arranged.found) });
  const row = make('tr', {}, make('td', { class: 'c-select' }, box), ...visible().map((c) => {
    const td = make('td', { class: classOf(c) });
    c.make?.(td, x);
    return td;
  }));
  row.shown = visible();
  return row;
}

function fill(row, x) {
  if (x.group !== undefined) {
    const toggle = row.querySelector('button');
    toggle.setAttribute('aria-expanded', x.open);
    text(toggle.children[0], x.open ? '▾' : '▸');
    text(toggle.children[1], x.label);
    text(toggle.children[2], x.count.toLocaleString());
    return;
  }
  row.classList.toggle('resting', !x.running);
  const picked = selection.has(x.key);
  row.firstChild.firstChild.checked = picked;
  row.classList.toggle('picked', picked);
  row.shown.forEach((c, i) => c.fill(row.children[i + 1], x));
}

let arranged = { rows: [], found: [] };

function redraw() {
  if (!model) return;
  arranged = arrange(model.tasks, how);
  selection.update(model.tasks);
  text(number, arranged.found.length === model.tasks.length ? model.tasks.length.toLocaleString() : `${arranged.found.length.toLocaleString()} of ${count(model.tasks.length, 'task')}`);
  text(empty, model.tasks.length ? 'No task matches the search.' : 'No tasks.');
  show(empty, !arranged.found.length);
  show(table.element, arranged.found.length > 0);
  all.checked = arranged.found.length > 0 && arranged.found.every((t) => selection.has(t.key));
  table.set(arranged.rows);
}

let sorted; // the address that asked for an order, which is obeyed once

export function update(m, params) {
  model = m;
  const asked = params.get('sort');
  if (asked && asked !== sorted && columns.some((c) => c.id === asked)) {
    chosen.add(asked);
    $('tasks-columns').querySelector(`[name=${asked}]`).checked = true;
    Object.assign(how, { sort: asked, down: false, group: 'none' });
    $('tasks-group').value = 'none';
    headings();
    table.set([]);
  }
  sorted = asked;
  redraw();
  const key = params.get('task');
  if (key) showTask(key, m, () => go('/tasks'));
  else close();
}

export function gone() { close(); }
