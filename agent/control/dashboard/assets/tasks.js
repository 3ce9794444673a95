// The tab of tasks: a table with a search, filters by state, groups and a selection, and a drawer for one.

import { make, text, show } from './dom.js';
import { tr } from './language.js';
import { icon } from './icons.js';
import { whole } from './words.js';
import { newMenu } from './menu.js';
import { newTable } from './virtual.js';
import { columns, byProject } from './columns.js';
import { arrange } from './arrange.js';
import { newChips } from './chips.js';
import { newSelection } from './select.js';
import { showTask } from './task.js';
import { close } from './drawer.js';
import { go } from './address.js';

const groupings = { both: tr('Project, state'), project: tr('Project'), state: tr('State'), none: tr('None') };

// What a person chose, kept by the browser.
const kept = (() => { try { return JSON.parse(localStorage.getItem('tasks') ?? '{}'); } catch { return {}; } })();
const how = { search: '', kind: 'all', sort: kept.sort || 'deadline', down: !!kept.down, group: groupings[kept.group] ? kept.group : 'both', closed: new Set(kept.closed ?? []) };
const chosen = new Set(kept.columns ?? columns.filter((c) => c.shown).map((c) => c.id));

function keepChoice() {
  const choice = JSON.stringify({ sort: how.sort, down: how.down, group: how.group, closed: [...how.closed], columns: [...chosen] });
  try { localStorage.setItem('tasks', choice); } catch { /* a browser that keeps nothing */ }
}

let model, table, selection, chips, search, empty, clear, all;

export function build(section) {
  chips = newChips((kind) => { how.kind = kind; redraw(); });
  empty = make('p', { class: 'empty', id: 'tasks-empty' }, make('span'), ' ', clear = make('button', { onclick: showAll }, tr('Clear search')));
  search = make('input', { id: 'tasks-search', type: 'search', placeholder: tr('Search'), 'aria-label': tr('Search tasks'), autocomplete: 'off', oninput: () => { how.search = search.value; redraw(); } });
  const group = make('select', { id: 'tasks-group', 'aria-label': tr('Group by'), onchange: () => { how.group = group.value; keepChoice(); rebuild(); } },
    ...Object.entries(groupings).map(([value, label]) => make('option', { value }, label)));
  group.value = how.group;
  const choice = columns.filter((c) => !c.fits).map((c) => {
    const box = make('input', { type: 'checkbox', name: c.id, onchange: () => { if (box.checked) chosen.add(c.id); else chosen.delete(c.id); keepChoice(); rebuild(); } });
    box.checked = chosen.has(c.id);
    return make('label', {}, box, ` ${c.label}`);
  });
  table = newTable({ id: 'tasks-table', label: tr('List of tasks'), key: (x) => (x.group === undefined ? x.key : `group ${x.group}`), create, fill, pin: (x) => x.level === 0 });
  selection = newSelection(() => table.refresh(), () => model?.tasks ?? []);
  section.append(
    make('div', { class: 'bar' }, make('h2', {}, tr('Tasks')),
      make('div', { class: 'tools' }, make('label', { class: 'search' }, icon('search'), search), make('label', { class: 'pick' }, make('span', {}, tr('Group by')), group),
        newMenu({ id: 'tasks-columns', square: tr('Columns') }, [icon('more')], make('div', {}, ...choice)))),
    chips.element, empty, selection.element, table.element);
  all = make('input', { type: 'checkbox', 'aria-label': tr('Select all tasks shown'), onchange: () => selection.set(arranged.found, all.checked) });
  for (const m of [phone, wide]) m.addEventListener('change', rebuild);
}

const phone = matchMedia('(max-width: 40rem)'), wide = matchMedia('(min-width: 64rem)');
const classOf = (c) => `c-${c.id}${c.number ? ' num' : ''}`;

let beside = false, visible = []; // whether the drawer is next to the table, and the columns that are shown

// headings makes the row of headings for the columns of which there is room.
function headings() {
  how.tight = phone.matches || beside && wide.matches;
  how.two = how.tight || !byProject(how);
  visible = columns.filter((c) => (c.fits?.(how) ?? (phone.matches || chosen.has(c.id))) && (!how.tight || (phone.matches ? c.narrow : c.beside)));
  table.element.classList.toggle('two', how.two);
  table.head.replaceChildren(make('th', { scope: 'col', class: 'c-select' }, all), ...visible.map((c) => {
    const sorted = how.sort === c.id;
    return make('th', { scope: 'col', class: classOf(c), 'aria-sort': sorted ? (how.down ? 'descending' : 'ascending') : 'none' },
      make('button', { class: 'sort', onclick: () => sort(c.id) }, c.label, make('span', { 'aria-hidden': 'true' }, sorted ? (how.down ? '↓' : '↑') : '')));
  }));
}

// sort goes by a column upwards, downwards, and then by the deadline again.
function sort(id) {
  if (how.sort !== id) Object.assign(how, { sort: id, down: false });
  else if (!how.down) how.down = true;
  else Object.assign(how, { sort: 'deadline', down: false });
  keepChoice();
  headings();
  table.head.querySelector(`.c-${id} button`).focus();
  redraw();
}

// rebuild makes all rows anew, for other columns.
function rebuild() {
  headings();
  table.forget();
  redraw();
}

// showAll ends the search and the filter.
function showAll() {
  search.value = how.search = '';
  how.kind = 'all';
  search.focus();
  redraw();
}

function create(x) {
  if (x.group !== undefined) {
    const toggle = make('button', { class: 'group', onclick: () => { if (!how.closed.delete(x.group)) how.closed.add(x.group); keepChoice(); redraw(); } },
      make('span', { 'aria-hidden': 'true' }), make('span', { class: x.mark }), make('span'), make('span', { class: 'count' }));
    return make('tr', { class: `group level${x.level}` }, make('td', { colspan: visible.length + 1 }, toggle));
  }
  const box = make('input', { type: 'checkbox', 'aria-label': tr('Select {task}', { task: x.name }), onclick: (e) => selection.toggle(x.key, box.checked, e.shiftKey, arranged.found) });
  const row = make('tr', {}, make('td', { class: 'c-select' }, box), ...visible.map((c) => {
    const td = make('td', { class: classOf(c) });
    c.make?.(td, x, how);
    return td;
  }));
  row.shown = visible;
  return row;
}

let opened = ''; // the key of the task in the drawer

function fill(row, x) {
  if (x.group !== undefined) {
    const toggle = row.querySelector('button');
    toggle.setAttribute('aria-expanded', x.open);
    text(toggle.children[0], x.open ? '▾' : '▸');
    text(toggle.children[2], x.label);
    text(toggle.children[3], whole(x.count));
    return;
  }
  row.classList.toggle('resting', !x.running);
  const picked = selection.has(x.key);
  row.firstChild.firstChild.checked = picked;
  row.classList.toggle('picked', picked);
  row.classList.toggle('open', x.key === opened);
  row.shown.forEach((c, i) => c.fill(row.children[i + 1], x, how));
}

let arranged = { rows: [], found: [] };

function redraw() {
  if (!model) return;
  arranged = arrange(model.tasks, how);
  selection.update(model.tasks);
  chips.update(model.tasks, how.kind);
  text(empty.firstChild, !model.tasks.length ? none(model) : how.search ? tr('No task matches “{search}”.', { search: how.search }) : tr('No task is in this state.'));
  text(clear, how.search ? tr('Clear search') : tr('Show all'));
  show(clear, model.tasks.length > 0);
  show(empty, !arranged.found.length);
  show(chips.element, model.tasks.length > 0);
  show(table.element, arranged.found.length > 0);
  all.checked = arranged.found.length > 0 && arranged.found.every((t) => selection.has(t.key));
  table.set(arranged.rows);
}

// none returns why there is no task.
function none(m) {
  if (!m.projects.length) return tr('No tasks. Attach a project to get some.');
  const reasons = m.projects.map((p) => p.work && `${p.name || p.master_url}: ${p.work}`).filter(Boolean);
  return [tr('No tasks.'), ...reasons].join(' ');
}

let obeyed; // the address that asked for a filter, which is obeyed once

export function update(m, params) {
  model = m;
  const asked = params.get('show');
  if (asked && asked !== obeyed) how.kind = asked;
  obeyed = asked;
  const before = opened;
  opened = params.get('task') ?? '';
  if (opened) showTask(opened, m, () => go('/tasks'));
  else close();
  if (beside === !!opened && table.head.children.length) redraw();
  else {
    beside = !!opened;
    rebuild();
  }
  if (before && !opened && document.activeElement === document.body) { // its link was made anew
    const i = arranged.rows.findIndex((x) => x.key === before);
    if (i >= 0) table.focus(i, 'a');
  }
}

export function gone() {
  opened = '';
  close();
}
