// The tab of notices: what projects announced, as text and never as markup.

import { make, text, show, keep, outside } from './dom.js';
import { tr } from './language.js';
import { when } from './words.js';
import { call, complain } from './ask.js';
import { projectLink } from './attention.js';

let number, empty, list, shown, all = [];

export function build(section) {
  number = make('span', { class: 'count', id: 'notices-count' });
  empty = make('p', { class: 'empty' }, tr('No news and no notices from projects in the last 30 days.'));
  list = make('div', { id: 'notices-list' });
  section.append(make('div', { class: 'bar' }, make('h2', {}, tr('Notices'), ' ', number)), empty, list);
}

// The stream has only the headlines. The texts are fetched when the headlines change.
export async function update(m) {
  const heads = m.status.notices ?? [];
  keepSeen(heads);
  const key = JSON.stringify(heads.map((n) => [n.seqno, n.time]));
  if (key !== shown) {
    shown = key;
    try {
      all = await call('/api/notices') ?? [];
    } catch (e) {
      shown = undefined;
      complain(e.message);
    }
  }
  text(number, all.length ? String(all.length) : '');
  show(empty, !all.length);
  keep(list, all, (n) => String(n.seqno), notice);
}

export const titleOf = (n) => n.title || tr('Notice from {project}', { project: projectOf(n) });
const projectOf = (n) => n.project_name || n.project;

function notice(n) {
  const e = make('article', { class: 'notice' },
    make('h3', {}, titleOf(n)),
    make('p', { class: 'small' }, make('a', { href: projectLink({ master_url: n.project }) }, projectOf(n)), ' · ', make('time', { datetime: n.time }, when(n.time))),
    make('p', { class: 'whole' }, n.text ?? ''));
  const link = outside(n.link, tr('Read it on the project’s site'), n.link);
  if (link) e.append(make('p', {}, link));
  return e;
}

// unread is the number of notices that came after the last visit of the tab, which the browser keeps.
export function unread(m) {
  return (m.status.notices ?? []).filter((n) => n.seqno > seen()).length;
}

const seen = () => { try { return Number(localStorage.getItem('notices') ?? 0); } catch { return 0; } };

function keepSeen(heads) {
  const last = Math.max(seen(), ...heads.map((n) => n.seqno));
  try { localStorage.setItem('notices', String(last)); } catch { /* a browser that keeps nothing */ }
}

// headlines are the latest news for the overview.
export function headlines(m) {
  const since = Date.now() - 7 * 86400e3;
  return (m.status.notices ?? []).filter((n) => new Date(n.time) > since).slice(0, 3);
}
