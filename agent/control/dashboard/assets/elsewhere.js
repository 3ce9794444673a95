// The drawer of another computer, with its recently ended tasks and its activities of the last
// days. It asks once, when it is opened.

import { make, text, show } from './dom.js';
import { tr } from './language.js';
import { span, when } from './words.js';
import { call } from './ask.js';
import { openDrawer } from './drawer.js';
import { newList } from './spans.js';
import { midnights } from './bands.js';
import { outcome, shade, projectOf } from './past.js';

const days = 7, shown = 100;

// showElsewhere opens the drawer for the computer at an address.
export function showElsewhere(address, title, closed) {
  const { body, fresh } = openDrawer(`computer ${address}`, tr('History of {computer}', { computer: title }), closed);
  if (!fresh) return;
  const fault = make('p', { class: 'bad', role: 'status' }, tr('Asking…'));
  const said = make('p', { class: 'small' }), list = make('ul', { class: 'rows', id: 'elsewhere-tasks' }), spans = newList();
  spans.id = 'elsewhere-spans';
  const found = make('div', { hidden: true }, make('h3', {}, tr('Ended tasks')), said, list, make('h3', {}, tr('Last {n} days', { n: days })), spans);
  body.append(fault, found);
  load(address).then(([h, t]) => {
    text(fault, '');
    text(said, h.next ? tr('The last {n}. All of them, there: starling history', { n: shown }) : h.tasks.length ? '' : tr('No tasks have ended yet.'));
    list.append(...h.tasks.map(line));
    spans.set(t);
    show(found, true);
  }, (e) => text(fault, e.message));
}

// load gets the first page of ended tasks, and all spans of the last days.
const load = (address) => Promise.all([ask('history', { address, limit: shown }), timeline(address)]);

const ask = (what, q) => call(`/api/${what}?${new URLSearchParams(q)}`);

async function timeline(address) {
  const since = new Date(midnights(Date.now(), days)[0]).toISOString();
  let spans = [], before = 0;
  do {
    const t = await ask('timeline', { address, since, before });
    spans = spans.concat(t.spans);
    before = t.spans.length ? t.next : 0;
  } while (before);
  return spans;
}

function line(t) {
  const about = [projectOf(t), t.finished && when(t.finished), t.cpu_seconds && tr('{time} of CPU time', { time: span(t.cpu_seconds) }), t.exit].filter(Boolean).join('. ');
  return make('li', {}, make('span', { class: shade(t) }, outcome(t)), ' ', t.name, ' ', make('span', { class: 'small' }, about));
}
