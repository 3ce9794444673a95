// The tab of all computers, which are this one and its paired ones. Computers that need attention
// are first, and some actions apply to all of them. Each computer is asked separately, so that one
// that does not answer does not delay the others.

import { make, text, show, swap, keep } from './dom.js';
import { icon } from './icons.js';
import { count } from './words.js';
import { newMenu } from './menu.js';
import { act, call, complain, say, sure } from './ask.js';
import { attention } from './attention.js';
import { openAttach } from './attach.js';
import { openPair } from './pair.js';
import { close } from './drawer.js';
import { go } from './address.js';
import { showElsewhere } from './elsewhere.js';
import { whyOf } from './spans.js';

const every = 5000; // ms between two looks at a computer
const many = 12; // more computers than that are rows

const here = ''; // the address of this computer
let known = new Map(); // address → { address, answer, error, away }
let open = false, round = 0, wanted = null; // the computer whose history is shown
let total, list, pauseAll, resumeAll, another;

export function build(section) {
  const everywhere = () => [...known.keys()];
  total = make('span', { class: 'count', id: 'computers-count' });
  pauseAll = make('button', { id: 'pause-all', onclick: () => mode(everywhere(), 'never') }, 'Pause all');
  resumeAll = make('button', { id: 'resume-all', onclick: () => mode(everywhere(), 'auto') }, 'Resume all');
  list = make('ul', { id: 'computers-list', class: 'computers' });
  another = make('button', { class: 'dashed', id: 'add-first', onclick: add }, icon('add'), 'Add a computer');
  section.append(make('div', { class: 'bar' }, make('h2', {}, 'Computers ', total),
    make('div', { class: 'tools' }, pauseAll, resumeAll, make('button', { id: 'attach-many', onclick: () => attach(everywhere()) }, 'Attach a project…'),
      make('button', { class: 'primary', id: 'add-computer', onclick: add }, icon('add'), 'Add a computer'))),
  make('div', { class: 'grown' }, list, another));
}

// add opens the dialog that adds a computer, whose card then gets the focus.
function add() {
  openPair(async (address) => {
    await look();
    [...list.children].find((e) => e.dataset.key === address)?.querySelector('summary').focus();
  });
}

const attach = (addresses) => openAttach(undefined, addresses.map((address) => ({ address, title: titleOf(known.get(address)) })));

// report shows on how many computers an action succeeded, and returns the errors.
function report(failed, addresses, done) {
  const bad = Object.entries(failed);
  if (bad.length < addresses.length) say(`${count(addresses.length - bad.length, 'computer')} ${done}.`);
  return bad.map(([a, why]) => `${titleOf(known.get(a) ?? { address: a })}: ${why}`).join('\n');
}

async function mode(addresses, what) {
  try {
    const v = await call('/api/computers/mode', { addresses, mode: what });
    const failed = report(v.failed, addresses, what === 'never' ? 'paused' : 'resumed');
    if (failed) complain(failed);
    for (const a of addresses) ask(a, round);
  } catch (e) {
    complain(e.message);
  }
}

const titleOf = (c) => c.answer?.status.host || c.address || 'This computer';

// look gets the list of computers, and starts to ask those that are new.
async function look() {
  try {
    const addresses = [here, ...await call('/api/computers')];
    const before = known;
    known = new Map(addresses.map((a) => [a, before.get(a) ?? { address: a }]));
    for (const a of addresses) if (!before.has(a)) follow(a, round);
    draw();
  } catch (e) {
    complain(e.message);
  }
}

// follow asks a computer again and again while the tab is open and the computer is one.
async function follow(address, mine) {
  while (open && mine === round && known.has(address)) {
    await ask(address, mine);
    await new Promise((done) => setTimeout(done, every));
  }
}

async function ask(address, mine) {
  let answer, error = '', away = false;
  try {
    answer = await call(`/api/computers/status?address=${encodeURIComponent(address)}`);
  } catch (e) {
    error = e.message;
    away = e.code === 'away';
  }
  const c = known.get(address);
  if (!c || mine !== round) return;
  Object.assign(c, { error, away });
  if (answer) c.answer = answer;
  draw();
}

// problems returns the problems of a computer that need attention. One that is away has none: to switch
// a computer off is normal.
function problems(c) {
  if (c.error) return c.away ? [] : [{ key: 'error', text: c.error[0].toUpperCase() + c.error.slice(1) }];
  const s = c.answer?.status;
  return s ? attention({ status: s, projects: s.projects ?? [], tasks: s.tasks ?? [] }).filter((x) => x.kind !== 'newer') : [];
}

function draw() {
  if (!open) return;
  drawer();
  const all = [...known.values()];
  const rank = (c) => (problems(c).length ? 0 : 1);
  all.sort((a, b) => rank(a) - rank(b) || (a.address === here ? -1 : b.address === here ? 1 : titleOf(a).localeCompare(titleOf(b))));
  text(total, String(all.length));
  const modes = all.filter((c) => c.answer && !c.error).map((c) => c.answer.status.run_mode === 'never');
  show(pauseAll, !modes.length || modes.includes(false));
  show(resumeAll, modes.includes(true));
  show(another, all.length === 1);
  list.classList.toggle('many', all.length > many);
  keep(list, all, (c) => c.address, card);
}

// sentence returns a computer's state: a class for its mark, and what it does.
function sentence(c) {
  if (c.away) return ['', 'It does not answer. It may be switched off.'];
  if (!c.answer && !c.error) return ['', 'Connecting…'];
  const [worst, ...others] = problems(c);
  if (worst) return ['need', `${worst.text}${worst.cure ? ` You can: ${worst.cure}` : ''}${others.length ? ` And ${others.length} more.` : ''}`];
  const { running, status: s } = c.answer;
  if (s.run_mode === 'never') return ['', 'Paused by you'];
  if (s.compute) return ['', `Suspended. ${whyOf({ why: s.compute })}`];
  return running ? ['running', `Computing for ${names(c.answer.for)}`] : ['', 'Nothing to compute'];
}

const names = (all) => new Intl.ListFormat('en-GB', { type: 'conjunction' }).format(all);

function card(c) {
  const current = () => known.get(c.address) ?? c;
  const local = c.address === here;
  const name = local ? make('a', { href: '/computer' }) : make('span'), about = make('span', { class: 'small' });
  const mark = make('span'), what = make('span'), said = make('p', { class: 'sentence' }, mark, icon('warning'), what);
  const number = make('span'), unit = make('span', { class: 'unit' }), running = make('dd', {}, number, ' ', unit), completed = make('dd'), days = make('dt');
  const button = (label, onclick, ...parts) => make('button', { onclick }, ...parts, label);
  const pause = button('Pause', () => mode([c.address], 'never'), icon('pause')), resume = button('Resume', () => mode([c.address], 'auto'), icon('resume'));
  const past = button('History', () => go(local ? '/history' : `/computers?computer=${encodeURIComponent(c.address)}`));
  const again = button('Try again', () => ask(c.address, round));
  past.classList.add('plain');
  const remove = button('Remove…', async () => {
    if (await sure(`Remove ${titleOf(current())}?`, 'This page no longer shows or controls it. Its agent keeps running. To revoke its permission there: starling remote revoke NAME.', 'Remove') && await act('/api/computers/forget', { address: c.address }, 'Removed.')) look();
  });
  remove.classList.add('danger');
  const menu = newMenu({ square: 'More' }, [icon('more')], make('div', {}, local ? make('a', { href: '/computer' }, 'Details') : make('p', { class: 'small' }, c.address),
    button('Attach a project…', () => attach([c.address])), local ? null : remove));
  const e = make('li', { class: 'card pc' }, make('header', {}, make('h3', {}, name), about, menu), said,
    make('dl', {}, make('div', {}, make('dt', {}, 'Running'), running), make('div', {}, days, completed)), make('div', { class: 'actions' }, pause, resume, past, again));
  e.update = (c) => {
    const [kind, words] = sentence(c), s = c.error ? undefined : c.answer?.status;
    text(name, titleOf(c));
    text(about, [local && 'This computer', s && count(s.cpus, 'CPU'), ...s?.coprocs ?? []].filter(Boolean).join(', '));
    said.classList.toggle('wants', kind === 'need');
    mark.className = `dot ${kind}`;
    text(what, words);
    what.title = c.error ?? '';
    e.classList.toggle('away', !!c.away);
    text(number, s ? c.answer.running.toLocaleString() : '–');
    text(unit, s ? (c.answer.running === 1 ? 'task' : 'tasks') : '');
    text(days, `Completed in ${count(s?.achieved?.days ?? 7, 'day')}`);
    text(completed, s ? (s.achieved?.finished ?? 0).toLocaleString() : '–');
    swap(resume, pause, s?.run_mode === 'never');
    for (const b of [pause, resume, past]) if (!s) show(b, false);
    show(past, !!s);
    show(again, !!c.error);
    for (const [b, verb] of [[pause, 'Pause'], [resume, 'Resume'], [past, 'History of'], [again, 'Try again:'], [remove, 'Remove'], [menu.firstElementChild, 'More for']]) b.setAttribute('aria-label', `${verb} ${titleOf(c)}`);
  };
  return e;
}

// drawer shows the history of the computer in the page's address.
function drawer() {
  if (wanted === null) close();
  else if (known.has(wanted)) showElsewhere(wanted, titleOf(known.get(wanted)), () => go('/computers'));
}

export function update(_, params) {
  wanted = params.get('computer');
  drawer();
  if (open) return;
  open = true;
  round++;
  known = new Map();
  look();
}

export function gone() {
  open = false;
  close();
}
