// The files that are being moved or wait for that.

import { make, text, show, keep } from './dom.js';
import { when, bytes, count } from './words.js';
import { act, sure } from './ask.js';

const most = 100;

// buildTransfers returns an element with a method update.
export function buildTransfers() {
  const number = make('span', { class: 'count' }), empty = make('p', { class: 'empty' }, 'No transfers.'), list = make('ul', { id: 'transfers-list', class: 'rows' });
  const more = make('p', { class: 'small' });
  const e = make('div', { id: 'transfers' }, make('h2', {}, 'Transfers ', number), empty, list, more);
  e.update = (all) => {
    text(number, all.length ? String(all.length) : '');
    show(empty, !all.length);
    keep(list, all.slice(0, most), (x) => `${x.project} ${x.name}`, row);
    text(more, all.length > most ? `And ${count(all.length - most, 'more transfer')}.` : '');
  };
  return e;
}

function row(x) {
  const what = make('span'), state = make('span', { class: 'state' });
  const bar = make('progress', { max: 1, 'aria-label': `Transfer of ${x.name}` });
  const why = make('p', { class: 'small number' }), trouble = make('p', { class: 'why bad' });
  const again = make('button', { 'aria-label': `Retry ${x.name} now`, onclick: () => act('/api/transfer', { project: x.project, file: x.name, abort: false }, `${x.name}: retrying.`) }, 'Retry now');
  const abort = make('button', {
    'aria-label': `Cancel transfer of ${x.name}`,
    onclick: async () => {
      if (await sure(`Cancel the transfer of ${x.name}?`, 'The task that needs this file will fail.', 'Cancel transfer')) act('/api/transfer', { project: x.project, file: x.name, abort: true }, `${x.name}: canceled.`);
    },
  }, 'Cancel transfer');
  const e = make('li', {}, make('div', { class: 'ends' }, what, state), bar, why, trouble, make('div', { class: 'actions' }, again, abort));
  e.update = (x) => {
    text(what, `${x.upload ? '↑ Uploading' : '↓ Downloading'} ${x.name}`);
    text(state, x.active ? 'active' : 'waiting');
    state.classList.toggle('on', x.active);
    show(bar, x.size > 0);
    bar.value = x.size ? Math.min(1, x.bytes / x.size) : 0;
    const pace = x.silent_seconds ? `no data for ${span(x.silent_seconds)}` : x.remaining_seconds >= 60 ? `${span(x.remaining_seconds)} remaining at the speed that you allow` : '';
    text(why, [x.size ? `${bytes(x.bytes)} of ${bytes(x.size)}` : bytes(x.bytes), x.next_try && new Date(x.next_try) > Date.now() ? `next try ${when(x.next_try)}` : '', pace].filter(Boolean).join('; '));
    text(trouble, [x.trouble, x.trouble_cure && `You can: ${x.trouble_cure}`].filter(Boolean).join(' '));
    show(trouble, !!x.trouble);
    show(again, !x.active);
  };
  return e;
}
