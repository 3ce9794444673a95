// What a person chooses in one row: to pause for a while or after the tasks that run, and the
// modes of computing, of GPUs and of the network, each with a duration.

import { $, make, text, show, swap } from './dom.js';
import { tr, plural, inside } from './language.js';
import { when } from './words.js';
import { act } from './ask.js';
import { newMenu } from './menu.js';
import { icon } from './icons.js';

const modes = { always: tr('Always'), auto: tr('Auto'), never: tr('Never') };
const minutes = (n) => plural(n, '{n} minute', '{n} minutes'), hours = (n) => plural(n, '{n} hour', '{n} hours');
const terms = { 0: tr('Until I change it'), 15: minutes(15), 60: hours(1), 240: hours(4), 480: hours(8), 1440: plural(1, '{n} day', '{n} days') };

function mode(id, what, activity) {
  const now = make('b'), until = make('span');
  const term = make('select', {}, ...Object.entries(terms).map(([value, label]) => make('option', { value }, label)));
  const choices = Object.entries(modes).map(([value, label]) => make('label', {}, make('input', { type: 'radio', name: id, value }), label));
  const form = make('form', {
    onchange: (e) => {
      if (e.target === term) return;
      const minutes = Number(term.value);
      const values = { what, mode: inside(modes[e.target.value]), time: terms[minutes] };
      const said = minutes && e.target.value !== 'auto' ? tr('{what}: {mode} for {time}.', values) : tr('{what}: {mode}.', values);
      act('/api/mode', { activity, mode: e.target.value, minutes }, said);
    },
  }, make('fieldset', {}, make('legend', { class: 'unseen' }, what), ...choices), make('label', {}, tr('For how long'), ' ', term));
  const e = newMenu({ id }, [make('span', {}, what), now, until], form);
  e.update = (mode, end) => {
    for (const i of form.querySelectorAll('input')) if (i.checked !== (i.value === mode)) i.checked = i.value === mode;
    text(now, modes[mode] ?? '');
    text(until, mode !== 'auto' && end ? tr('until {time}', { time: when(end) }) : '');
  };
  return e;
}

const phone = matchMedia('(max-width: 40rem)');

// startModes puts the buttons into the row of the overview, or on a phone into the page's head and its
// menu More. It returns a function that shows a model.
export function startModes() {
  const paused = (n) => plural(n, 'Paused for {n} hour.', 'Paused for {n} hours.');
  const suspend = (minutes, said) => act('/api/mode', { activity: '', mode: 'never', minutes }, said);
  const morning = () => {
    const d = new Date();
    d.setDate(d.getDate() + 1);
    d.setHours(8, 0, 0, 0);
    return Math.round((d - Date.now()) / 60e3);
  };
  let unpause;
  const pause = make('button', { id: 'pause', onclick: () => suspend(60, paused(1)) }, icon('pause'), tr('Pause for 1 h'));
  const resume = make('button', { id: 'resume', class: 'primary', hidden: true, onclick: () => unpause() }, tr('Resume'));
  const others = newMenu({ id: 'pause-for' }, [make('span', { class: 'unseen' }, tr('Pause for longer'))], make('div', {},
    make('button', { onclick: () => suspend(240, paused(4)) }, plural(4, 'For {n} hour', 'For {n} hours')),
    make('button', { onclick: () => suspend(morning(), tr('Paused until tomorrow, 08:00.')) }, tr('Until tomorrow, 08:00')),
    make('button', { onclick: () => suspend(0, tr('Paused until you resume.')) }, tr('Until I resume')),
    make('button', { id: 'drain', onclick: () => act('/api/drain', { scope: 'running' }, tr('Running tasks finish. No others start.')) }, tr('When running tasks are finished'))));
  const run = mode('mode-run', tr('Computing'), ''), gpu = mode('mode-gpu', tr('GPUs'), 'gpu'), net = mode('mode-net', tr('Network'), 'network');
  const pausing = make('div', { class: 'tools', id: 'pausing' }, pause, resume, others);
  const place = () => {
    if (phone.matches) document.querySelector('.top h1').after(pausing);
    else $('modes').append(pausing);
    (phone.matches ? $('more').lastElementChild : $('modes')).append(run, gpu, net);
  };
  phone.addEventListener('change', place);
  place();
  return (m) => {
    show(pausing, m.projects.length > 0);
    const never = m.status.run_mode === 'never', paused = never || !!m.status.drain;
    unpause = () => (never ? act('/api/mode', { activity: '', mode: 'auto', minutes: 0 }, tr('Resumed.')) : act('/api/drain', { scope: '' }, tr('Resumed.')));
    swap(resume, pause, paused);
    show(others, !paused);
    run.update(m.status.run_mode, m.run_until);
    show(gpu, !!m.status.coprocs?.length);
    gpu.update(m.gpu_mode, m.gpu_until);
    net.update(m.status.network_mode, m.network_until);
  };
}
