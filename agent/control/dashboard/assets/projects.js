// The tab of projects: a table of what each gets and gives, and a drawer for one.

import { make, text, show, keep } from './dom.js';
import { tr } from './language.js';
import { when, number, percent, debt, whole } from './words.js';
import { nameOf, projectState } from './model.js';
import { projectLink } from './attention.js';
import { showProject } from './project.js';
import { close } from './drawer.js';
import { openAttach } from './attach.js';
import { act, sure } from './ask.js';
import { go } from './address.js';

let counted, empty, box, body, manager, managerName;

const heads = [[tr('Project')], [tr('State')], [tr('Share'), 'num'], [tr('Actual'), 'num'], [tr('Balance'), 'num c-more'], [tr('Credit'), 'num'], [tr('Per day'), 'num c-more'], [tr('Tasks'), 'num'], [tr('Next contact'), 'num c-more']];

export function build(section) {
  counted = make('span', { class: 'count', id: 'projects-count' });
  empty = make('p', { class: 'empty' }, tr('No projects yet. Attach one to start computing for it.'));
  body = make('tbody', { id: 'projects-list' });
  box = make('div', { class: 'scroll card', tabindex: 0, role: 'region', 'aria-label': tr('List of projects') }, make('table', { class: 'plain wide stack' },
    make('thead', {}, make('tr', {}, ...heads.map(([h, c]) => make('th', { scope: 'col', class: c }, h)))), body));
  managerName = make('span');
  manager = make('p', { id: 'manager', class: 'links', hidden: true }, managerName,
    make('button', { class: 'link', onclick: () => act('/api/manager', {}, tr('The account manager was contacted.')) }, tr('Contact it now')), make('button', { class: 'link', onclick: leave }, tr('Leave…')));
  section.append(make('div', { class: 'bar' }, make('h2', {}, tr('Projects'), ' ', counted), make('button', { class: 'primary', id: 'attach-open', onclick: () => openAttach() }, tr('Attach project'))), manager, empty, box,
    make('p', { class: 'small' }, tr('Share is what you chose for a project, Actual is its part of the CPU time that all projects got on this computer. Balance is the CPU time that is owed to it by its share.')));
}

// leave leaves the account manager. Projects stay.
async function leave() {
  if (await sure(tr('Leave the account manager?'), tr('It no longer chooses the projects of this computer. Its projects stay attached, with the settings that they have now.'), tr('Leave'))) act('/api/manager', { leave: true }, tr('You have left the account manager.'));
}

export function update(m, params) {
  const by = m.status.manager;
  show(manager, !!by);
  text(managerName, by ? tr('Your account manager {name} chooses the projects.', { name: by.name || by.url }) : '');
  text(counted, m.projects.length ? String(m.projects.length) : '');
  show(empty, !m.projects.length);
  show(box, m.projects.length > 0);
  keep(body, m.projects, (p) => p.master_url, row);
  const u = params.get('project');
  if (u) showProject(u, m, () => go('/projects'));
  else close();
}

export function gone() { close(); }

function row(p) {
  const name = make('a', { href: projectLink(p) }), state = make('span', { class: 'state' });
  const cells = heads.slice(2).map(([h, c]) => make('td', { class: c, 'data-label': h }));
  const e = make('tr', {}, make('th', { scope: 'row' }, name), make('td', {}, state), ...cells);
  e.update = (p) => {
    const [word, well] = projectState(p);
    text(name, nameOf(p));
    text(state, word);
    state.classList.toggle('on', well);
    const next = p.in_contact ? tr('now') : p.next_contact ? when(p.next_contact) : tr('when needed');
    [percent(p.share), percent(p.got), debt(p.debt_cpu_seconds), number(p.user_total_credit), number(p.user_expavg_credit), whole(p.tasks), next].forEach((t, i) => text(cells[i], t));
  };
  return e;
}
