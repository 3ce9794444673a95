// The form of the preferences. It shows the new file before it writes it.

import { $, make, text, facts } from './dom.js';
import { tr, rich, locale } from './language.js';
import { moment, whole } from './words.js';
import { say, call } from './ask.js';

let written = {}; // what is set here, by name, as it stands in the file
let asked = 0;

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
// nameOf returns a weekday in the language of the page.
const nameOf = (day) => new Date(Date.UTC(2024, 0, 1 + weekdays.indexOf(day))).toLocaleDateString(locale, { weekday: 'long', timeZone: 'UTC' });
// The hours of a day, with their headings and labels.
const hours = {
  start_hour: [tr('compute from'), (day) => tr('{day}, computing from hour', { day })], end_hour: [tr('until'), (day) => tr('{day}, computing until hour', { day })],
  net_start_hour: [tr('network from'), (day) => tr('{day}, network from hour', { day })], net_end_hour: [tr('until'), (day) => tr('{day}, network until hour', { day })],
};

// values returns the values of the form, with names like monday.start_hour for weekdays.
function values() {
  const out = {};
  for (const e of $('prefs-keys').querySelectorAll('input, select')) {
    if (e.validity.badInput) throw new Error(tr('{name}: not a number', { name: e.name }));
    if (e.value !== '') out[e.name] = Number(e.value);
  }
  return out;
}

// sent returns the values in the form that the agent accepts.
function sent(all) {
  const out = { values: {}, days: {} };
  for (const [name, v] of Object.entries(all)) {
    const [day, hour] = name.split('.');
    if (hour) (out.days[day] ??= {})[hour] = v;
    else out.values[name] = v;
  }
  return out;
}

function same(a, b) {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((n) => a[n] === b[n]);
}

// preview asks the agent for the new file and its errors.
async function preview() {
  const mine = ++asked;
  let fault = '', changed = true;
  try {
    const v = values();
    changed = !same(v, written);
    const { toml } = await call('/api/prefs/preview', sent(v));
    if (mine === asked) text($('prefs-toml'), toml || tr('# nothing is set'));
  } catch (e) {
    fault = e.message;
  }
  if (mine !== asked) return;
  text($('prefs-fault'), fault);
  $('prefs-save').disabled = !changed || fault !== '';
  $('prefs-undo').disabled = !changed;
}

function line(k) {
  const id = `pref-${k.name}`;
  const about = make('span', {}, k.about[0].toUpperCase() + k.about.slice(1));
  const shown = k.bool ? (k.value ? tr('yes') : tr('no')) : `${whole(k.value)} ${k.unit ?? ''}`.trim();
  let field;
  if (k.bool) {
    field = make('select', { id, name: k.name, 'aria-describedby': `${id}-now` },
      make('option', { value: '' }, '–'), make('option', { value: '1' }, tr('yes')), make('option', { value: '0' }, tr('no')));
  } else {
    field = make('input', { id, name: k.name, type: 'number', step: 'any', min: k.least, max: k.most, inputmode: 'decimal', 'aria-describedby': `${id}-now`, placeholder: k.value });
  }
  field.value = k.own === undefined ? '' : String(k.own);
  return make('div', { class: k.own === undefined ? 'pref' : 'pref own' }, make('label', { for: id }, about), field,
    make('p', { class: 'small', id: `${id}-now` }, ...rich('{name} is {value}, from {origin}', { name: make('code', {}, k.name), value: shown, origin: k.origin })));
}

// week is a table of hours for single days of the week.
function week(days) {
  const row = (day) => make('tr', {}, make('th', { scope: 'row' }, nameOf(day)), ...Object.keys(hours).map((hour) => {
    const set = written[`${day}.${hour}`];
    const field = make('input', { name: `${day}.${hour}`, type: 'number', step: 'any', min: 0, max: 24, inputmode: 'decimal', 'aria-label': hours[hour][1](nameOf(day)) });
    field.value = set === undefined ? '' : String(set);
    return make('td', {}, field);
  }));
  const table = make('table', { id: 'prefs-week' }, make('tr', {}, make('td'), ...Object.values(hours).map(([h]) => make('th', { scope: 'col' }, h))), ...weekdays.map(row));
  const all = make('details', {}, make('summary', {}, tr('Different hours on certain days of the week')), make('div', { class: 'scroll' }, table));
  all.open = Object.keys(days).length > 0;
  return all;
}

// loadPrefs fills the form with the current values.
async function loadPrefs() {
  const form = await call('/api/prefs');
  written = {};
  for (const k of form.keys) if (k.own !== undefined) written[k.name] = k.own;
  for (const [day, d] of Object.entries(form.days)) {
    for (const [from, to] of [['start_hour', 'end_hour'], ['net_start_hour', 'net_end_hour']]) {
      if (d[from] !== d[to]) Object.assign(written, { [`${day}.${from}`]: d[from], [`${day}.${to}`]: d[to] });
    }
  }
  text($('prefs-file'), form.file);
  $('prefs-keys').replaceChildren(...form.keys.map(line), week(form.days));
  await preview();
}

export function build(section) {
  section.append(make('h2', {}, tr('Preferences')),
    make('p', {}, ...rich('Preferences set here override {file} (which is not changed) and the projects’ web sites. An empty field sets nothing.', { file: make('code', {}, 'prefs.toml') })),
    make('form', { id: 'prefs-form', novalidate: true, onsubmit: save },
      make('div', { id: 'prefs-keys', class: 'prefs', oninput: preview }),
      make('div', { class: 'preview card' },
        make('h3', { id: 'preview-title' }, ...rich('Preview of {file}', { file: make('code', { id: 'prefs-file' }) })),
        make('pre', { id: 'prefs-toml', tabindex: 0, 'aria-labelledby': 'preview-title' }),
        make('p', { id: 'prefs-fault', role: 'alert', class: 'bad' }),
        make('div', { class: 'actions' }, make('button', { class: 'primary', id: 'prefs-save', type: 'submit', disabled: true }, tr('Save')),
          make('button', { id: 'prefs-undo', type: 'button', disabled: true, onclick: reload }, tr('Discard changes'))))),
    make('h2', {}, tr('About')), about = make('dl', { id: 'about-facts' }));
}

let about;
let loaded = false, pointed; // pointed is the preference of the address that got the focus

// update fills the form when the tab is shown. A person's input stays.
export function update(m) {
  facts(about, [[tr('Version'), m.status.version], [tr('Running since'), moment(m.status.since)], [tr('Data directory'), m.status.data_dir]]);
  if (loaded) {
    point();
    return;
  }
  loaded = true;
  reload();
}

// point moves the focus to the preference of the address, once.
function point() {
  const key = new URLSearchParams(location.search).get('key');
  if (key === pointed || !$(`pref-${key}`)) return;
  pointed = key;
  $(`pref-${key}`).focus();
}

export function gone() {
  pointed = undefined;
  if ($('prefs-undo').disabled) loaded = false; // nothing is typed: what others set is shown next time
}

function reload() { loadPrefs().then(point, (e) => text($('prefs-fault'), e.message)); }

async function save(e) {
  e.preventDefault();
  try {
    await call('/api/prefs', sent(values()));
    await loadPrefs();
    say(tr('Preferences saved.'));
  } catch (err) {
    text($('prefs-fault'), err.message);
  }
}
