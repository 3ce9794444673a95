// The form of the preferences. It shows the new file before it writes it.

import { $, make, text, facts } from './dom.js';
import { moment } from './words.js';
import { say, call } from './ask.js';

let written = {}; // what is set here, by name, as it stands in the file
let asked = 0;

const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const hours = { start_hour: 'compute from', end_hour: 'until', net_start_hour: 'network from', net_end_hour: 'until' };

// values returns the values of the form, with names like monday.start_hour for weekdays.
function values() {
  const out = {};
  for (const e of $('prefs-keys').querySelectorAll('input, select')) {
    if (e.validity.badInput) throw new Error(`${e.name}: not a number`);
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
    if (mine === asked) text($('prefs-toml'), toml || '# nothing is set');
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
  const shown = k.bool ? (k.value ? 'yes' : 'no') : `${k.value} ${k.unit ?? ''}`.trim();
  let field;
  if (k.bool) {
    field = make('select', { id, name: k.name, 'aria-describedby': `${id}-now` },
      make('option', { value: '' }, '–'), make('option', { value: '1' }, 'yes'), make('option', { value: '0' }, 'no'));
  } else {
    field = make('input', { id, name: k.name, type: 'number', step: 'any', min: k.least, max: k.most, inputmode: 'decimal', 'aria-describedby': `${id}-now`, placeholder: k.value });
  }
  field.value = k.own === undefined ? '' : String(k.own);
  return make('div', { class: k.own === undefined ? 'pref' : 'pref own' }, make('label', { for: id }, about), field,
    make('p', { class: 'small', id: `${id}-now` }, make('code', {}, k.name), ` is ${shown}, from ${k.origin}`));
}

// week is a table of hours for single days of the week.
function week(days) {
  const row = (day) => make('tr', {}, make('th', { scope: 'row' }, day[0].toUpperCase() + day.slice(1)), ...Object.keys(hours).map((hour) => {
    const set = written[`${day}.${hour}`];
    const field = make('input', { name: `${day}.${hour}`, type: 'number', step: 'any', min: 0, max: 24, inputmode: 'decimal', 'aria-label': `${day}, ${hour.startsWith('net') ? 'network' : 'computing'} ${hour.endsWith('start_hour') ? 'from' : 'until'} hour` });
    field.value = set === undefined ? '' : String(set);
    return make('td', {}, field);
  }));
  const table = make('table', { id: 'prefs-week' }, make('tr', {}, make('td'), ...Object.values(hours).map((h) => make('th', { scope: 'col' }, h))), ...weekdays.map(row));
  const all = make('details', {}, make('summary', {}, 'Different hours on certain days of the week'), make('div', { class: 'scroll' }, table));
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
  section.append(make('h2', {}, 'Preferences'),
    make('p', {}, 'Preferences set here override ', make('code', {}, 'prefs.toml'), ' (which is not changed) and the projects’ web sites. An empty field sets nothing.'),
    make('form', { id: 'prefs-form', novalidate: true, onsubmit: save },
      make('div', { id: 'prefs-keys', class: 'prefs', oninput: preview }),
      make('div', { class: 'preview card' },
        make('h3', { id: 'preview-title' }, 'Preview of ', make('code', { id: 'prefs-file' })),
        make('pre', { id: 'prefs-toml', tabindex: 0, 'aria-labelledby': 'preview-title' }),
        make('p', { id: 'prefs-fault', role: 'alert', class: 'bad' }),
        make('div', { class: 'actions' }, make('button', { class: 'primary', id: 'prefs-save', type: 'submit', disabled: true }, 'Save'),
          make('button', { id: 'prefs-undo', type: 'button', disabled: true, onclick: reload }, 'Discard changes')))),
    make('h2', {}, 'About'), about = make('dl', { id: 'about-facts' }));
}

let about;
let loaded = false, pointed; // pointed is the preference of the address that got the focus

// update fills the form when the tab is shown. A person's input stays.
export function update(m) {
  facts(about, [['Version', m.status.version], ['Running since', moment(m.status.since)], ['Data directory', m.status.data_dir]]);
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
    say('Preferences saved.');
  } catch (err) {
    text($('prefs-fault'), err.message);
  }
}
