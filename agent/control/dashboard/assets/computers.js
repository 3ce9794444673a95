// The tab of all computers, which are this one and its paired ones. Computers that need attention
// are first, and some actions apply to all of them. Each computer is asked separately, so that one
// that does not answer does not delay the others.

import { make, text, show, keep } from './dom.js';
import { count, span } from './words.js';
import { act, call, complain, say, sure } from './ask.js';
import { attention } from './attention.js';
import { nameOf } from './model.js';
import { close } from './drawer.js';
import { go } from './address.js';
import { showElsewhere } from './elsewhere.js';

const every = 5000; // ms between two looks at a computer

const here = ''; // the address of this computer
let known = new Map(); // address → { address, answer, error }
let open = false, round = 0, wanted = null; // the computer whose history is shown
let number, list, pauseAll, resumeAll, boxes, attachForm, fault;

export function build(section) {
  number = make('span', { class: 'count', id: 'computers-count' });
  pauseAll = make('button', { id: 'pause-all', onclick: () => mode([...known.keys()], 'never') }, 'Pause all');
  resumeAll = make('button', { id: 'resume-all', onclick: () => mode([...known.keys()], 'auto') }, 'Resume all');
  list = make('ul', { id: 'computers-list', class: 'computers' });
  section.append(make('div', { class: 'bar' }, make('h2', {}, 'Computers ', number), make('div', { class: 'tools' }, pauseAll, resumeAll)), list,
    make('div', { class: 'halves' }, attachment(), pairing()));
}

const field = (id, label, attributes) => make('div', {}, make('label', { for: id }, label), make('input', { id, ...attributes }));

// pairing is the form that adds a computer.
function pairing() {
  const form = make('form', { id: 'pair', novalidate: true },
    make('p', { class: 'small' }, 'On the other computer, set remote_port = 31419 in starling.toml, restart its agent, and run: starling remote pair. This page then controls it over an encrypted connection.'),
    field('pair-address', 'Address (HOST or HOST:PORT)', { autocomplete: 'off', spellcheck: 'false' }),
    field('pair-code', 'Code', { autocomplete: 'off', spellcheck: 'false', placeholder: 'XXXX-XXXX-XXXX-XXXX' }),
    make('div', { class: 'actions' }, make('button', { class: 'primary' }, 'Add')));
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    const [address, code] = [form.querySelector('#pair-address'), form.querySelector('#pair-code')];
    if (!await act('/api/computers/pair', { address: address.value.trim(), code: code.value.trim() }, `${address.value.trim()} was added.`)) return;
    address.value = code.value = '';
    look();
  });
  return make('div', {}, make('h2', {}, 'Add a computer'), form);
}

// attachment is the form that attaches a project on several computers.
function attachment() {
  boxes = make('fieldset', { id: 'attach-on' }, make('legend', {}, 'On'), make('ul', { class: 'plainlist' }));
  fault = make('p', { role: 'alert', class: 'bad', id: 'attach-many-fault' });
  attachForm = make('form', { id: 'attach-many', novalidate: true },
    make('p', { class: 'small' }, 'You need an account with the project. Its password goes to the project only, not to the other computers.'),
    field('attach-many-url', 'Project, by its URL', { type: 'url', placeholder: 'https://', spellcheck: 'false' }),
    field('attach-many-email', 'E-mail address', { autocomplete: 'username', spellcheck: 'false' }),
    field('attach-many-password', 'Password', { type: 'password', autocomplete: 'current-password' }),
    boxes, make('div', { class: 'actions' }, make('button', { class: 'primary' }, 'Attach')), fault);
  attachForm.addEventListener('submit', async (e) => {
    e.preventDefault();
    const value = (id) => attachForm.querySelector(`#attach-many-${id}`).value.trim();
    const addresses = [...boxes.querySelectorAll('input:checked')].map((b) => b.value);
    text(fault, addresses.length ? '' : 'Choose at least one computer.');
    if (!addresses.length) return;
    try {
      const v = await call('/api/computers/attach', { addresses, url: value('url'), email: value('email'), password: attachForm.querySelector('#attach-many-password').value });
      const failed = report(v.failed, addresses, 'attached');
      text(fault, failed);
      if (!failed) attachForm.querySelector('#attach-many-password').value = '';
    } catch (err) {
      text(fault, err.message);
    }
  });
  return make('div', {}, make('h2', {}, 'Attach a project on several computers'), attachForm);
}

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
  let answer, error = '';
  try {
    answer = await call(`/api/computers/status?address=${encodeURIComponent(address)}`);
  } catch (e) {
    error = e.message;
  }
  const c = known.get(address);
  if (!c || mine !== round) return;
  c.error = error;
  if (answer) c.answer = answer;
  draw();
}

// problems returns the problems of a computer that need attention.
function problems(c) {
  if (c.error) return [{ key: 'error', text: `It cannot be reached: ${c.error}` }];
  const s = c.answer?.status;
  return s ? attention({ status: s, projects: s.projects ?? [], tasks: s.tasks ?? [] }).filter((x) => x.key !== 'newer') : [];
}

function draw() {
  if (!open) return;
  drawer();
  const all = [...known.values()];
  const rank = (c) => (problems(c).length ? 0 : 1);
  all.sort((a, b) => rank(a) - rank(b) || (a.address === here ? -1 : b.address === here ? 1 : titleOf(a).localeCompare(titleOf(b))));
  text(number, String(all.length));
  keep(list, all, (c) => c.address, card);
  keep(boxes.querySelector('ul'), all, (c) => c.address, (c) => {
    const name = make('span');
    const e = make('li', {}, make('label', { class: 'line' }, make('input', { type: 'checkbox', value: c.address, checked: true }), ' ', name));
    e.update = (c) => text(name, titleOf(c));
    return e;
  });
}

// stateOf returns a computer's state in a word or two, and whether it is good.
function stateOf(c) {
  if (c.error) return ['no answer', false];
  if (!c.answer) return ['asking', true];
  const { running, status } = c.answer;
  if (status.run_mode === 'never') return ['paused', false];
  if (status.compute) return ['suspended', false];
  return [running ? `${count(running, 'task')} running` : 'nothing to compute', true];
}

function card(c) {
  const name = make('h3'), state = make('span', { class: 'state' }), where = make('p', { class: 'small' }), wrong = make('ul', { class: 'whys' });
  const why = make('p', { class: 'why' }), about = make('p', { class: 'small' });
  const pause = make('button', { onclick: () => mode([c.address], 'never') }, 'Pause');
  const resume = make('button', { onclick: () => mode([c.address], 'auto') }, 'Resume');
  const past = make('button', { onclick: () => go(c.address === here ? '/history' : `/computers?computer=${encodeURIComponent(c.address)}`) }, 'History');
  const forget = make('button', {
    onclick: async () => {
      if (await sure(`Remove ${titleOf(known.get(c.address) ?? c)}?`, 'This page no longer shows or controls it. Its agent keeps running. To revoke its permission there: starling remote revoke NAME.', 'Remove') && await act('/api/computers/forget', { address: c.address }, 'Removed.')) look();
    },
  }, 'Remove');
  const e = make('li', { class: 'card' }, make('div', { class: 'ends' }, name, state), where, wrong, why, about, make('div', { class: 'actions' }, pause, resume, past, c.address === here ? null : forget));
  e.update = (c) => {
    const [word, well] = stateOf(c);
    text(name, titleOf(c));
    text(state, word);
    state.classList.toggle('on', well);
    text(where, c.address === here ? 'This computer' : c.address);
    keep(wrong, problems(c), (x) => x.key, () => {
      const li = make('li', { class: 'need' });
      li.update = (x) => text(li, x.cure ? `${x.text} You can: ${x.cure}` : x.text);
      return li;
    });
    const s = c.answer?.status;
    text(why, s && !c.error && s.compute_code !== 'disk_full' ? s.compute ?? '' : '');
    text(about, s ? facts(c.answer) : '');
    const off = s?.run_mode === 'never';
    show(pause, !!s && !off);
    show(resume, !!off);
    pause.setAttribute('aria-label', `Pause ${titleOf(c)}`);
    past.setAttribute('aria-label', `History of ${titleOf(c)}`);
    resume.setAttribute('aria-label', `Resume ${titleOf(c)}`);
    forget.setAttribute('aria-label', `Remove ${titleOf(c)}`);
  };
  return e;
}

function facts({ tasks, status: s }) {
  const projects = (s.projects ?? []).map(nameOf).join(', ') || 'no projects';
  const done = s.achieved ? `; ${count(s.achieved.finished, 'task')} finished in ${count(s.achieved.days, 'day')}, ${span(s.achieved.cpu_seconds)} of CPU time` : '';
  return `${projects}; ${count(tasks, 'task')} on ${count(s.cpus, 'CPU')}${done}`;
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
