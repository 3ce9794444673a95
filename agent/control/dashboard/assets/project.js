// The drawer of a project, with its account, the time that it is owed, its messages and the
// actions.

import { make, text, show, swap, keep, facts, outside } from './dom.js';
import { tr, plural } from './language.js';
import { span, when, bytes, number, percent, reason, energy, whole, youCan } from './words.js';
import { act, sure } from './ask.js';
import { openDrawer } from './drawer.js';
import { nameOf, projectState } from './model.js';
import { work } from './attention.js';

let parts;

// showProject opens the drawer for the project of a master URL, or updates it.
export function showProject(u, model, closed) {
  const p = model.projects.find((p) => p.master_url === u);
  const { body, fresh } = openDrawer(`project ${u}`, p ? nameOf(p) : tr('Project'), closed);
  if (fresh) parts = build(body, u);
  show(parts.there, !!p);
  show(parts.missing, !p);
  if (!p) return;
  parts.name = nameOf(p);
  draw(p, model);
}

function build(body, u) {
  const x = {
    missing: make('p', { class: 'empty' }, tr('This computer is not attached to the project.')), there: make('div'),
    state: make('span', { class: 'state', id: 'project-state' }), trouble: make('p', { class: 'why bad whole' }), why: make('p', { class: 'why' }), contact: make('p', { class: 'small' }),
    facts: make('dl', { id: 'project-facts' }), notices: make('ul', { class: 'whys small' }), stored: make('ul', { class: 'whys small', id: 'project-stored' }), stderr: make('pre', { tabindex: 0, 'aria-label': tr('Last lines of the failed task') }),
  };
  const to = (action, said) => () => act('/api/project', { project: u, action }, `${x.name}: ${said}`);
  const button = (label, onclick) => make('button', { onclick }, label);
  x.update = button(tr('Update'), to('update', tr('contacting the project now.')));
  x.suspend = button(tr('Suspend'), to('suspend', tr('suspended.')));
  x.resume = button(tr('Resume'), to('resume', tr('resumed.')));
  x.finish = button(tr('No more work'), to('nomorework', tr('no new work will be fetched.')));
  x.more = button(tr('Allow more work'), to('allowmorework', tr('new work is allowed again.')));
  x.undo = button(tr('Undo'), to('undo', tr('its tasks are kept.')));
  x.reset = button(tr('Reset…'), async () => {
    if (await sure(tr('Reset {project}?', { project: x.name }), tr('Its tasks on this computer are dropped and its files are downloaded again. You can undo this for 5 minutes.'), tr('Reset'))) to('reset', tr('resetting. You can undo this for 5 minutes.'))();
  });
  x.detach = button(tr('Detach…'), async () => {
    if (await sure(tr('Detach {project}?', { project: x.name }), tr('Its tasks and files on this computer are removed. Your account with the project is kept. You can undo this for 5 minutes.'), tr('Detach'))) act('/api/detach', { project: u }, `${x.name}: ${tr('detaching. You can undo this for 5 minutes.')}`);
  });
  x.buttons = make('div', { class: 'actions', id: 'project-actions' }, x.update, x.suspend, x.resume, x.finish, x.more, x.undo);
  for (const b of [x.reset, x.detach]) b.classList.add('danger');
  x.end = make('div', { class: 'end' }, x.reset, x.detach, make('p', { class: 'small' }, tr('A reset drops its tasks here and downloads its files again. Detaching removes them. You can undo both for 5 minutes.')));
  x.noticesBox = make('div', {}, make('h3', {}, tr('Messages from the project')), x.notices);
  x.storedBox = make('div', {}, make('h3', {}, tr('Stored files')), x.stored);
  x.links = make('ul', { class: 'links', id: 'project-links' });
  x.own = make('ul', { class: 'whys small', id: 'project-own' });
  x.ownBox = make('div', {}, make('h3', {}, tr('Your own programs')), make('p', { class: 'small' }, tr('This project’s tasks are computed with programs of yours, which app_info.xml in its folder describes.')), x.own);
  x.linksBox = make('div', {}, make('h3', {}, tr('On the project’s site')), x.links);
  x.there.append(make('p', {}, x.state), make('p', { class: 'small' }, make('a', { href: u, target: '_blank', rel: 'noopener noreferrer' }, u)), x.trouble, x.stderr, x.why, x.contact, x.buttons, x.facts, x.ownBox, x.linksBox, x.storedBox, x.noticesBox, x.end);
  body.append(x.missing, x.there);
  return x;
}

function draw(p, m) {
  const x = parts, plan = m.plans[p.master_url];
  const [word, well] = projectState(p);
  text(x.state, word);
  x.state.classList.toggle('on', well);
  text(x.trouble, [p.ending, p.trouble, youCan(p.trouble_cure), p.failing?.text, youCan(p.failing?.cure)].filter(Boolean).join('\n'));
  x.trouble.title = p.trouble_detail ?? '';
  show(x.trouble, x.trouble.textContent !== '');
  text(x.stderr, p.failing?.stderr ?? '');
  show(x.stderr, !!p.failing?.stderr);
  text(x.why, p.work_code === 'tasks_fail' || p.trouble && p.work_code === p.trouble_code ? '' : [work(m, p), youCan(p.work_cure)].filter(Boolean).join(' '));
  const s = plan?.session;
  text(x.contact, !s ? '' : s.kind !== 'none' ? tr('Contact now: {why}', { why: s.why }) : s.why !== plan.fetch.text ? tr('Contact: {why}', { why: reason(s.why, s.until) }) : '');
  const leaving = !!p.ending;
  swap(x.resume, x.suspend, !!p.suspended);
  swap(x.more, x.finish, !!p.no_more_work);
  for (const e of [x.update, x.end]) show(e, !leaving);
  if (leaving) for (const b of [x.suspend, x.resume, x.finish, x.more]) show(b, false);
  show(x.undo, leaving);
  const owed = p.debt_cpu_seconds;
  facts(x.facts, [
    [tr('Share'), `${percent(p.share)} (${number(p.resource_share)})`],
    [tr('Actual'), tr('{part} of the CPU time: {time}', { part: percent(p.got), time: span(p.cpu_seconds) })],
    [tr('Energy'), energy(p)],
    [tr('Balance'), owed >= 60 ? tr('owed {time} of CPU time', { time: span(owed) }) : owed <= -60 ? tr('{time} of CPU time ahead', { time: span(-owed) }) : tr('balanced')],
    [tr('Account'), p.user_name],
    [tr('Credit'), average(p.user_total_credit, p.user_expavg_credit)],
    [tr('This computer'), average(p.host_total_credit, p.host_expavg_credit)],
    [tr('Computer ID'), p.host_id > 0 && String(p.host_id)],
    [tr('Tasks'), whole(p.tasks)],
    [tr('Disk'), m.disk.used >= 0 && bytes(m.disk.projects[p.master_url] ?? 0)],
    [tr('Stored files'), stored(p.storage)],
    [tr('Last contact'), p.last_contact ? when(p.last_contact) : tr('never')],
    [tr('Next contact'), p.in_contact ? tr('in progress') : p.next_contact && tr('not before {time}', { time: when(p.next_contact) })],
    [tr('Failed contacts'), p.failures && String(p.failures)],
    [tr('Account manager'), p.manager],
  ]);
  const files = [
    ...(p.storage?.problems ?? []).map((problem) => tr('Problem: {problem}', { problem })),
    ...(p.storage?.removed ?? []).toReversed().map((f) => tr('Removed {time}: {file} ({size}), because {why}', { time: when(f.at), file: f.name, size: bytes(f.bytes), why: f.why })),
  ];
  keep(x.stored, files, (n) => n, (n) => make('li', {}, n));
  show(x.storedBox, files.length > 0);
  keep(x.own, p.own_applications ?? [], (n) => n, (n) => make('li', {}, n));
  show(x.ownBox, !!p.own_applications?.length);
  const links = (p.gui_urls ?? []).filter((l) => outside(l.url));
  keep(x.links, links, (l) => `${l.url} ${l.name} ${l.description}`, (l) => make('li', {}, outside(l.url, l.name, l.description)));
  show(x.linksBox, links.length > 0);
  keep(x.notices, p.notices ?? [], (n) => n, (n) => make('li', {}, n));
  show(x.noticesBox, !!p.notices?.length);
}

// stored lists the files that a project stores here between its tasks.
function stored(s) {
  if (!s?.files) return '';
  const values = { size: bytes(s.bytes), most: bytes(s.limit_bytes ?? 0) };
  return s.limit_bytes ? plural(s.files, '{n} file, {size} of at most {most}', '{n} files, {size} of at most {most}', values) : plural(s.files, '{n} file, {size}', '{n} files, {size}', values);
}

// average is a total of credit with its daily average.
const average = (total, day) => tr('{total}, {day} a day on average', { total: number(total), day: number(day) });
