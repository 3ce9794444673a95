// The form of the preferences. What it would write is shown before it is written.

import { $, make, text, say, call } from './dom.js';

let written = {}; // what is set here, by name, as it stands in the file
let asked = 0;

// values are what the form sets.
function values() {
  const out = {};
  for (const e of $('prefs-keys').querySelectorAll('input, select')) {
    if (e.validity.badInput) throw new Error(`${e.name}: that is no number`);
    if (e.value !== '') out[e.name] = Number(e.value);
  }
  return out;
}

function same(a, b) {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((n) => a[n] === b[n]);
}

// preview asks the agent what the file would be, and for what is wrong with it.
async function preview() {
  const mine = ++asked;
  let fault = '', changed = true;
  try {
    const v = values();
    changed = !same(v, written);
    const { toml } = await call('/api/prefs/preview', { values: v });
    if (mine === asked) text($('prefs-toml'), toml || '# nothing is set here');
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

// loadPrefs fills the form with what holds now.
export async function loadPrefs() {
  const form = await call('/api/prefs');
  written = {};
  for (const k of form.keys) if (k.own !== undefined) written[k.name] = k.own;
  text($('prefs-file'), form.file);
  $('prefs-keys').replaceChildren(...form.keys.map(line));
  await preview();
}

$('prefs-keys').addEventListener('input', preview);
$('prefs-undo').addEventListener('click', () => loadPrefs().catch((e) => text($('prefs-fault'), e.message)));
$('prefs-form').addEventListener('submit', async (e) => {
  e.preventDefault();
  try {
    await call('/api/prefs', { values: values() });
    await loadPrefs();
    say('Preferences are saved and hold from now on.');
  } catch (err) {
    text($('prefs-fault'), err.message);
  }
});
