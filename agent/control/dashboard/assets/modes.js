// The modes of computing, of GPUs and of the network: always, by the preferences, or never.

import { make, text, show } from './dom.js';
import { when } from './words.js';
import { act } from './ask.js';

const modes = { always: 'Always', auto: 'Auto', never: 'Never' };
const terms = { 0: 'until changed', 15: '15 minutes', 60: '1 hour', 240: '4 hours', 480: '8 hours', 1440: '1 day' };

// buildModes returns an element with a method update.
export function buildModes() {
  const term = make('select', { id: 'mode-for' }, ...Object.entries(terms).map(([value, label]) => make('option', { value }, label)));
  const form = (id, what, activity) => {
    const legend = make('legend', {}, what);
    const choices = Object.entries(modes).map(([value, label]) => make('label', {}, make('input', { type: 'radio', name: id, value }), make('span', {}, label)));
    const e = make('form', {
      id, onchange: (e) => {
        const minutes = Number(term.value);
        const long = minutes && e.target.value !== 'auto' ? ` for ${terms[minutes]}` : '';
        act('/api/mode', { activity, mode: e.target.value, minutes }, `${what}: ${modes[e.target.value].toLowerCase()}${long}.`);
      },
    }, make('fieldset', {}, legend, make('div', { class: 'choices' }, ...choices)));
    e.update = (mode, until) => {
      for (const i of e.querySelectorAll('input')) if (i.checked !== (i.value === mode)) i.checked = i.value === mode;
      text(legend, mode !== 'auto' && until ? `${what} (until ${when(until)})` : what);
    };
    return e;
  };
  const run = form('mode-run', 'Computing', ''), gpu = form('mode-gpu', 'GPUs', 'gpu'), net = form('mode-net', 'Network', 'network');
  const all = make('div', { class: 'modes' }, run, gpu, net, make('label', { class: 'for' }, 'Duration ', term));
  all.update = (m) => {
    run.update(m.status.run_mode, m.run_until);
    show(gpu, !!m.status.coprocs?.length);
    gpu.update(m.gpu_mode, m.gpu_until);
    net.update(m.status.network_mode, m.network_until);
  };
  return all;
}
