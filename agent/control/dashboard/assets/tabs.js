// The tabs of the page, each with a separate address. A tab is a module with
//
//	build(section)    makes its elements, once
//	update(model, params)  shows the model; params are those of the address
//	messages(lines)   optional: further lines of the log
//	gone()            optional: another tab is shown
//	unread(model)     optional: the number next to its name
//
// Another tab needs only a line here: with an icon if a phone has it in its bar and not under More, with
// more if a broad window has it at the right, and with of if another tab leads to it. The server serves
// index.html for its address.

import { $, make, text, show } from './dom.js';
import { tr } from './language.js';
import { icon } from './icons.js';
import { whole } from './words.js';
import { go } from './address.js';
import * as overview from './overview.js';
import * as tasks from './tasks.js';
import * as projects from './projects.js';
import * as computer from './computer.js';
import * as notices from './notices.js';
import * as past from './history.js';
import * as computers from './computers.js';
import * as preferences from './preferences.js';
import * as log from './log.js';

const tabs = [
  { path: '/', title: tr('Overview'), tab: overview, icon: 'overview' },
  { path: '/tasks', title: tr('Tasks'), tab: tasks, icon: 'tasks' },
  { path: '/projects', title: tr('Projects'), tab: projects, icon: 'projects' },
  { path: '/history', title: tr('History'), tab: past, icon: 'history' },
  { path: '/computers', title: tr('Computers'), tab: computers },
  { path: '/computer', title: tr('This computer'), tab: computer, of: '/computers' },
  { path: '/notices', title: tr('Notices'), tab: notices, more: true },
  { path: '/preferences', title: tr('Preferences'), tab: preferences, more: true },
  { path: '/log', title: tr('Log'), tab: log, more: true },
];

// The old addresses of the parts, from when they were all on one page.
const anchors = { '#tasks': '/tasks', '#projects': '/projects', '#transfers': '/computer', '#credit': '/computer', '#preferences': '/preferences', '#messages': '/log', '#now': '/' };

let model, current;

export function start() {
  const others = make('div'), more = make('details', { id: 'more' }, make('summary', {}, icon('more'), tr('More')), others);
  const broad = matchMedia('(min-width: 40.01rem)'); // a phone has room for a few
  const unfold = () => { more.open = broad.matches; };
  broad.addEventListener('change', unfold);
  others.addEventListener('click', (e) => { if (e.target.closest('a')) unfold(); });
  unfold();
  for (const t of tabs) {
    const id = t.path.slice(1) || 'overview';
    t.links = t.of ? [] : [make('a', { href: t.path, class: t.icon || t.more ? undefined : 'wide' }, t.icon && icon(t.icon), t.title, t.count = t.tab.unread && make('span', { class: 'count' }))];
    if (!t.of) (t.more ? others : $('tabs')).append(t.links[0]);
    if (!t.of && !t.icon && !t.more) {
      t.links.push(make('a', { href: t.path, class: 'narrow' }, t.title));
      others.append(t.links[1]);
    }
    t.section = make('section', { id, 'aria-label': t.title, hidden: true });
    $('main').append(t.section);
    t.tab.build(t.section);
  }
  $('tabs').append(more);
  document.addEventListener('click', follow);
  window.addEventListener('popstate', draw);
  window.addEventListener('hashchange', draw);
  draw();
}

// follow keeps links within the page from loading it again.
function follow(e) {
  const a = e.target.closest('a[href]');
  if (!a || e.defaultPrevented || e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey || a.target) return;
  const to = new URL(a.href);
  if (to.origin !== location.origin || to.hash || !tabs.some((t) => t.path === to.pathname)) return;
  e.preventDefault();
  go(to.pathname + to.search);
}

// draw shows the tab of the address.
function draw() {
  const moved = anchors[location.hash];
  if (moved) history.replaceState(null, '', moved);
  let next = tabs.find((t) => t.path === location.pathname);
  if (!next) {
    history.replaceState(null, '', '/');
    next = tabs[0];
  }
  if (next !== current) {
    current?.tab.gone?.();
    const first = !current;
    current = next;
    for (const t of tabs) {
      show(t.section, t === next);
      for (const link of t.links) {
        if (t.path === (next.of ?? next.path)) link.setAttribute('aria-current', 'page');
        else link.removeAttribute('aria-current');
      }
    }
    if (!first) window.scrollTo(0, 0);
  }
  update(model);
}

// update shows the model in the tab that is open.
export function update(m) {
  model = m;
  if (!m) return;
  const n = m.running.length;
  document.title = [current.path !== '/' && current.title, n && tr('{n} running', { n }), 'Starling'].filter(Boolean).join(' · ');
  current.tab.update(m, new URLSearchParams(location.search));
  for (const t of tabs) if (t.count) text(t.count, t.tab.unread(m) ? ` ${whole(t.tab.unread(m))}` : '');
}

// messages passes on lines of the log. first is true for the first lines of a stream.
export function messages(lines, first) {
  for (const t of tabs) t.tab.messages?.(lines, first);
}
