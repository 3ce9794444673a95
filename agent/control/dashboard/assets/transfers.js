// The files that are being moved or wait for that.

import { make, text, show, keep } from './dom.js';
import { tr, plural } from './language.js';
import { span, when, bytes, youCan } from './words.js';
import { act, sure } from './ask.js';

const most = 100;

// buildTransfers returns an element with a method update.
export function buildTransfers() {
  const number = make('span', { class: 'count' }), empty = make('p', { class: 'empty' }, tr('No transfers.')), list = make('ul', { id: 'transfers-list', class: 'rows' });
  const more = make('p', { class: 'small' });
  const e = make('div', { id: 'transfers' }, make('h2', {}, tr('Transfers'), ' ', number), empty, list, more);
  e.update = (all) => {
    text(number, all.length ? String(all.length) : '');
    show(empty, !all.length);
    keep(list, all.slice(0, most), (x) => `${x.project} ${x.name}`, row);
    text(more, all.length > most ? plural(all.length - most, 'And {n} more transfer.', 'And {n} more transfers.') : '');
  };
  return e;
}

function row(x) {
  const what = make('span'), state = make('span', { class: 'state' });
  const bar = make('progress', { max: 1, 'aria-label': tr('Transfer of {file}', { file: x.name }) });
  const why = make('p', { class: 'small number' }), trouble = make('p', { class: 'why bad' });
  const again = make('button', { 'aria-label': tr('Retry {file} now', { file: x.name }), onclick: () => act('/api/transfer', { project: x.project, file: x.name, abort: false }, tr('{file}: retrying.', { file: x.name })) }, tr('Retry now'));
  const abort = make('button', {
    'aria-label': tr('Cancel transfer of {file}', { file: x.name }),
    onclick: async () => {
      if (await sure(tr('Cancel the transfer of {file}?', { file: x.name }), tr('The task that needs this file will fail.'), tr('Cancel transfer'))) act('/api/transfer', { project: x.project, file: x.name, abort: true }, tr('{file}: canceled.', { file: x.name }));
    },
  }, tr('Cancel transfer'));
  const e = make('li', {}, make('div', { class: 'ends' }, what, state), bar, why, trouble, make('div', { class: 'actions' }, again, abort));
  e.update = (x) => {
    text(what, x.upload ? tr('↑ Uploading {file}', { file: x.name }) : tr('↓ Downloading {file}', { file: x.name }));
    text(state, x.active ? tr('active') : tr('waiting'));
    state.classList.toggle('on', x.active);
    show(bar, x.size > 0);
    bar.value = x.size ? Math.min(1, x.bytes / x.size) : 0;
    const pace = x.silent_seconds ? tr('no data for {time}', { time: span(x.silent_seconds) }) : x.remaining_seconds >= 60 ? tr('{time} remaining at the speed that you allow', { time: span(x.remaining_seconds) }) : '';
    text(why, [x.size ? tr('{done} of {size}', { done: bytes(x.bytes), size: bytes(x.size) }) : bytes(x.bytes), x.next_try && new Date(x.next_try) > Date.now() ? tr('next try {time}', { time: when(x.next_try) }) : '', pace].filter(Boolean).join('; '));
    text(trouble, [x.trouble, youCan(x.trouble_cure)].filter(Boolean).join(' '));
    show(trouble, !!x.trouble);
    show(again, !x.active);
  };
  return e;
}
