// The dialog that adds a computer by the code that it shows.

import { make, text } from './dom.js';
import { icon } from './icons.js';
import { tr, rich } from './language.js';
import { call, say } from './ask.js';

const code = (t) => make('code', {}, t);

let dialog;

// openPair opens the dialog. It calls added with the address of a computer that was added.
export function openPair(added) {
  if (!dialog) {
    dialog = build();
    document.body.append(dialog);
  }
  dialog.added = added;
  dialog.showModal();
}

function build() {
  const field = (id, label, attributes) => make('label', {}, label, make('input', { id, autocomplete: 'off', spellcheck: 'false', 'aria-describedby': 'pair-fault', ...attributes }));
  const address = field('pair-address', tr('Address'), { placeholder: tr('attic or 192.168.1.20'), autofocus: true }), secret = field('pair-code', tr('Code'), { class: 'mono', placeholder: 'XXXX-XXXX-XXXX-XXXX' });
  const fault = make('p', { id: 'pair-fault', class: 'bad', role: 'alert' });
  const close = () => d.close();
  const send = make('button', { class: 'primary' }, tr('Add computer'));
  const form = make('form', { id: 'pair', novalidate: true },
    make('div', { class: 'ends' }, make('h2', { id: 'pair-title' }, tr('Add a computer')), make('button', { type: 'button', class: 'square', 'aria-label': tr('Close'), onclick: close }, icon('close'))),
    make('ol', { class: 'steps' },
      make('li', {}, ...rich('On the other computer, set {setting} in {file} and restart Starling.', { setting: code('remote_port = 31419'), file: code('starling.toml') })),
      make('li', {}, ...rich('There, run {command}. It prints a code.', { command: code('starling remote pair') })),
      make('li', {}, tr('Enter its address and the code here.'))),
    make('div', { class: 'fields' }, address, secret), fault,
    make('p', { class: 'small' }, tr('The connection is encrypted. You can revoke it on either computer.')),
    make('div', { class: 'actions end' }, make('button', { type: 'button', onclick: close }, tr('Cancel')), send));
  const d = make('dialog', { id: 'pair-dialog', 'aria-labelledby': 'pair-title' }, form);
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const [where, what] = [address, secret].map((f) => f.lastChild);
    const to = where.value.trim();
    text(fault, to ? '' : tr('Enter the address of the other computer.'));
    if (!to) return;
    send.disabled = true;
    try {
      await call('/api/computers/pair', { address: to, code: what.value.trim() });
      where.value = what.value = '';
      d.close();
      say(tr('{computer} was added.', { computer: to }));
      d.added(to);
    } catch (err) {
      text(fault, err.message);
      what.select();
    }
    send.disabled = false;
  });
  return d;
}
