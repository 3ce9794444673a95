// The tab of all computers, which are this one and its paired ones. Computers that need attention
// are first, and some actions apply to all of them. Each computer is asked separately, so that one
// that does not answer does not delay the others.

import { make, text, show, swap, keep } from './dom.js';
import { icon } from './icons.js';
import { tr, plural, count } from './language.js';
import { list as listed, whole, youCan } from './words.js';
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
  pauseAll = make('button', { id: 'pause-all', onclick: () => mode(everywhere(), 'never') }, tr('Pause all'));
  resumeAll = make('button', { id: 'resume-all', onclick: () => mode(everywhere(), 'auto') }, tr('Resume all'));
  list = make('ul', { id: 'computers-list', class: 'computers' });
  another = make('button', { class: 'dashed', id: 'add-first', onclick: add }, icon('add'), tr('Add a computer'));
  section.append(make('div', { class: 'bar' }, make('h2', {}, tr('Computers'), ' ', total),
    make('div', { class: 'tools' }, pauseAll, resumeAll, make('button', { id: 'attach-many', onclick: () => attach(everywhere()) }, tr('Attach a project…')),
      make('button', { class: 'primary', id: 'add-computer', onclick: add }, icon('add'), tr('Add a computer')))),
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

// report shows on how many computers an action succeeded, by done(n), and returns the errors.
function report(failed, addresses, done) {
  const bad = Object.entries(failed);
  if (bad.length < addresses.length) say(done(addresses.length - bad.length));
  return bad.map(([a, why]) => `${titleOf(known.get(a) ?? { address: a })}: ${why}`).join('\n');
}

async function mode(addresses, what) {
  try {
    const v = await call('/api/computers/mode', { addresses, mode: what });
    const done = (n) => (what === 'never' ? plural(n, '{n} computer paused.', '{n} computers paused.') : plural(n, '{n} computer resumed.', '{n} computers resumed.'));
    const failed = report(v.failed, addresses, done);
    if (failed) complain(failed);
    for (const a of addresses) ask(a, round);
  } catch (e) {
    complain(e.message);
  }
}

const titleOf = (c) => c.answer?.status.host || c.address || tr('This computer');

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
  if (c.away) return ['', tr('It does not answer. It may be switched off.')];
  if (!c.answer && !c.error) return ['', tr('Connecting…')];
  const [worst, ...others] = problems(c);
  if (worst) return ['need', [worst.text, youCan(worst.cure), others.length && tr('And {n} more.', { n: others.length })].filter(Boolean).join(' ')];
  const { running, status: s } = c.answer;
  if (s.run_mode === 'never') return ['', tr('Paused by you')];
  if (s.compute) return ['', `${tr('Suspended.')} ${whyOf({ why: s.compute })}`];
  return running ? ['running', tr('Computing for {projects}', { projects: listed(c.answer.for) })] : ['', tr('Nothing to compute')];
}

function card(c) {
  const current = () => known.get(c.address) ?? c;
  const local = c.address === here;
  const name = local ? make('a', { href: '/computer' }) : make('span'), about = make('span', { class: 'small' });
  const mark = make('span'), what = make('span'), said = make('p', { class: 'sentence' }, mark, icon('warning'), what);
  const number = make('span'), unit = make('span', { class: 'unit' }), running = make('dd', {}, number, ' ', unit), completed = make('dd'), days = make('dt');
  const button = (label, onclick, ...parts) => make('button', { onclick }, ...parts, label);
  const pause = button(tr('Pause'), () => mode([c.address], 'never'), icon('pause')), resume = button(tr('Resume'), () => mode([c.address], 'auto'), icon('resume'));
  const past = button(tr('History'), () => go(local ? '/history' : `/computers?computer=${encodeURIComponent(c.address)}`));
  const again = button(tr('Try again'), () => ask(c.address, round));
  past.classList.add('plain');
  const remove = button(tr('Remove…'), async () => {
    if (await sure(tr('Remove {computer}?', { computer: titleOf(current()) }), tr('This page no longer shows or controls it. Its agent keeps running. To revoke its permission there: starling remote revoke NAME.'), tr('Remove')) && await act('/api/computers/forget', { address: c.address }, tr('Removed.'))) look();
  });
  remove.classList.add('danger');
  const menu = newMenu({ square: tr('More') }, [icon('more')], make('div', {}, local ? make('a', { href: '/computer' }, tr('Details')) : make('p', { class: 'small' }, c.address),
    button(tr('Attach a project…'), () => attach([c.address])), local ? null : remove));
  const e = make('li', { class: 'card pc' }, make('header', {}, make('h3', {}, name), about, menu), said,
    make('dl', {}, make('div', {}, make('dt', {}, tr('Running')), running), make('div', {}, days, completed)), make('div', { class: 'actions' }, pause, resume, past, again));
  e.update = (c) => {
    const [kind, words] = sentence(c), s = c.error ? undefined : c.answer?.status;
    text(name, titleOf(c));
    text(about, [local && tr('This computer'), s && count(s.cpus, 'CPU'), ...s?.coprocs ?? []].filter(Boolean).join(', '));
    said.classList.toggle('wants', kind === 'need');
    mark.className = `dot ${kind}`;
    text(what, words);
    what.title = c.error ?? '';
    e.classList.toggle('away', !!c.away);
    text(number, s ? whole(c.answer.running) : '–');
    text(unit, s ? plural(c.answer.running, 'task', 'tasks') : '');
    text(days, plural(s?.achieved?.days ?? 7, 'Completed in {n} day', 'Completed in {n} days'));
    text(completed, s ? whole(s.achieved?.finished ?? 0) : '–');
    swap(resume, pause, s?.run_mode === 'never');
    for (const b of [pause, resume, past]) if (!s) show(b, false);
    show(past, !!s);
    show(again, !!c.error);
    const computer = { computer: titleOf(c) };
    const labels = [[pause, tr('Pause {computer}', computer)], [resume, tr('Resume {computer}', computer)], [past, tr('History of {computer}', computer)],
      [again, tr('Try again: {computer}', computer)], [remove, tr('Remove {computer}', computer)], [menu.firstElementChild, tr('More for {computer}', computer)]];
    for (const [b, label] of labels) b.setAttribute('aria-label', label);
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
