// The page: listens to the agent and shows what it sends.

import { $, make, text, show, swap, keep, span, when, reason, bytes, number, say, complain, call, act, sure } from './dom.js';
import { chart } from './chart.js';
import { loadPrefs } from './prefs.js';

const modes = { always: 'Always', auto: 'Auto', never: 'Never' };
let view;
let seen; // when the view came

// Now.

function showNow(v) {
  const running = v.status.tasks?.filter((t) => t.running).length ?? 0;
  const projects = v.status.projects ?? [];
  let title = running === 1 ? 'Computing 1 task' : `Computing ${running} tasks`;
  if (!projects.length) title = 'Not attached to any project';
  else if (v.compute.why) title = 'Computing is suspended';
  else if (!running) title = 'Nothing to compute';
  text($('now-title'), title);
  document.title = running ? `${running} running · Starling` : 'Starling';
  const facts = [`Tasks may use ${v.cpus} of ${v.all_cpus} ${v.all_cpus === 1 ? 'CPU' : 'CPUs'}`];
  if (v.memory) facts.push(`${bytes(v.memory)} of memory`);
  if (v.cpu_temperature) facts.push(`CPU at ${Math.round(v.cpu_temperature)} °C`);
  const lost = v.status.unsaved_seconds >= 1 ? `at most ${span(v.status.unsaved_seconds)} of computing` : 'nothing';
  text($('now-text'), `${facts.join(', ')}. A shutdown now would lose ${lost}.`);

  const whys = [];
  for (const c of v.status.complaints ?? []) whys.push({ key: c, stop: true, text: c });
  for (const x of v.status.no_effect ?? []) whys.push({ key: x, stop: true, text: x });
  const newer = v.status.newer;
  if (newer) whys.push({ key: 'newer', text: `Starling ${newer.version} is available; you have ${v.status.version}. See ${newer.url}` });
  if (v.compute.why) whys.push({ key: 'compute', stop: true, text: reason(v.compute.why, v.compute.until) });
  if (v.network.why) whys.push({ key: 'network', stop: true, text: reason(`Network activity is suspended. ${v.network.why}`, v.network.until) });
  const late = (v.status.tasks ?? []).filter((t) => t.late_seconds > 0);
  if (late.length) whys.push({ key: 'late', stop: true, text: late.length === 1 ? `${late[0].name} will be about ${span(late[0].late_seconds)} late` : `${late.length} tasks will be late, among them ${late[0].name} by about ${span(late[0].late_seconds)}` });
  for (const p of projects) {
    if (p.trouble) whys.push({ key: 't' + p.master_url, stop: true, text: `${name(p)}: ${p.trouble} ${p.trouble_cure}` });
    if (p.failing) whys.push({ key: 'f' + p.master_url, stop: true, text: `${name(p)}: ${p.failing.text} ${p.failing.cure}` });
    const w = work(v, p);
    // A problem has been told, and an ordinary pause is none: neither is a headline.
    if (w && p.work_code !== p.trouble_code && p.work_code !== 'tasks_fail' && p.work_code !== 'request_delay') whys.push({ key: 'w' + p.master_url, text: `${name(p)}: ${w}` });
  }
  keep($('whys'), whys, (w) => w.key, () => {
    const e = make('li');
    e.update = (w) => { e.classList.toggle('stop', !!w.stop); text(e, w.text); };
    return e;
  });
  showMode('mode-run', v.status.run_mode, v.run_until);
  showMode('mode-net', v.status.network_mode, v.network_until);
}

const name = (p) => p.name || p.master_url;

// work says what was decided about asking a project for work.
function work(v, p) {
  const plan = v.plans[p.master_url];
  return plan?.fetch.text === p.work ? reason(p.work, plan.fetch.until) : p.work;
}

function showMode(id, mode, until) {
  for (const i of $(id).querySelectorAll('input')) if (i.checked !== (i.value === mode)) i.checked = i.value === mode;
  const legend = $(id).querySelector('legend');
  const what = id === 'mode-run' ? 'Computing' : 'Network';
  text(legend, mode !== 'auto' && until ? `${what} (until ${when(until)})` : what);
}

for (const id of ['mode-run', 'mode-net']) {
  const box = $(id).querySelector('.choices');
  for (const [value, label] of Object.entries(modes)) {
    box.append(make('label', {}, make('input', { type: 'radio', name: id, value }), make('span', {}, label)));
  }
  $(id).addEventListener('change', (e) => {
    const network = id === 'mode-net';
    const minutes = Number($('mode-for').value);
    const term = minutes && e.target.value !== 'auto' ? ` for ${$('mode-for').selectedOptions[0].textContent}` : '';
    act('/api/mode', { network, mode: e.target.value, minutes }, `${network ? 'Network' : 'Computing'}: ${modes[e.target.value].toLowerCase()}${term}.`);
  });
}

// Tasks.

function taskCard(t) {
  const state = make('span', { class: 'pill' });
  const title = make('h3', {}, t.name);
  const where = make('p', { class: 'small' });
  const bar = make('progress', { max: 1, 'aria-label': `Progress of ${t.name}` });
  const done = make('span', { class: 'number big' });
  const left = make('span', { class: 'number small' });
  const why = make('p', { class: 'why' });
  const due = make('p', { class: 'small number' });
  const to = (action, said) => () => act('/api/task', { project: t.project, task: t.name, action }, `${t.name}: ${said}.`);
  const suspend = make('button', { onclick: to('suspend', 'suspended'), 'aria-label': `Suspend ${t.name}` }, 'Suspend');
  const resume = make('button', { onclick: to('resume', 'resumed'), 'aria-label': `Resume ${t.name}` }, 'Resume');
  const abort = make('button', {
    'aria-label': `Abort ${t.name}`,
    onclick: async () => {
      if (await sure(`Abort ${t.name}?`, 'Its progress is lost, and the project is notified.', 'Abort task')) to('abort', 'aborted')();
    },
  }, 'Abort');
  const actions = make('div', { class: 'actions' }, suspend, resume, abort);
  const e = make('li', {}, make('div', { class: 'top' }, title, state), where, bar, make('div', { class: 'top' }, done, left), why, due, actions);
  e.update = (t) => {
    e.classList.toggle('resting', !t.running);
    text(state, t.running ? 'running' : t.suspended ? 'suspended' : t.state);
    state.classList.toggle('off', !t.running);
    const p = view.status.projects.find((p) => p.master_url === t.project);
    text(where, [t.app, p ? name(p) : t.project].filter(Boolean).join(' · '));
    bar.value = t.fraction_done;
    text(done, `${(100 * t.fraction_done).toFixed(1)} %`);
    text(left, t.fraction_done < 1 && t.remaining_seconds > 0 ? `${span(t.remaining_seconds)} remaining` : '');
    text(why, t.why);
    text(due, `Elapsed ${span(t.elapsed_seconds)}` + (t.report_deadline ? `, deadline ${when(t.report_deadline)}` : ''));
    swap(resume, suspend, !!t.suspended);
    show(actions, t.fraction_done < 1);
  };
  return e;
}

// Projects.

function projectCard(p) {
  const u = p.master_url;
  const title = make('h3');
  const state = make('span', { class: 'pill' });
  const owed = make('dd'); const took = make('dd'); const account = make('dd'); const contact = make('dd');
  const bar = make('progress', { max: 1, 'aria-label': 'Resource share' });
  const why = make('p', { class: 'why' });
  const next = make('p', { class: 'small' });
  const notices = make('ul', { class: 'whys small', 'aria-label': 'Messages from the project' });
  const to = (action, said) => () => act('/api/project', { project: u, action }, `${name(view.status.projects.find((p) => p.master_url === u) ?? p)}: ${said}.`);
  const button = (label, click) => make('button', { onclick: click }, label);
  const update = button('Update', to('update', 'contacting the project now'));
  const suspend = button('Suspend', to('suspend', 'suspended'));
  const resume = button('Resume', to('resume', 'resumed'));
  const finish = button('No more work', to('nomorework', 'no new work will be fetched'));
  const more = button('Allow more work', to('allowmorework', 'new work is allowed again'));
  const reset = button('Reset', async () => {
    if (await sure('Reset the project?', 'Its tasks on this computer are dropped and its files are downloaded again. You can undo this for 5 minutes with: starling undo ' + u, 'Reset')) to('reset', 'resetting')();
  });
  const detach = button('Detach', async () => {
    if (await sure('Detach the project?', 'Its tasks and files on this computer are removed. Your account with the project is kept. You can undo this for 5 minutes with: starling undo ' + u, 'Detach')) {
      act('/api/detach', { project: u }, 'Detaching.');
    }
  });
  const buttons = make('div', { class: 'actions' }, update, suspend, resume, finish, more, reset, detach);
  const e = make('li', {}, make('div', { class: 'top' }, title, state), make('p', { class: 'small' }, u), bar,
    make('dl', {}, make('dt', {}, 'Share'), owed, make('dt', {}, 'CPU time'), took, make('dt', {}, 'Account'), account, make('dt', {}, 'Contact'), contact), why, next, notices, buttons);
  e.update = (p) => {
    text(title, name(p));
    for (const b of buttons.children) b.setAttribute('aria-label', `${b.textContent}: ${name(p)}`);
    const refused = p.initialized && !p.host_id;
    const st = p.detaching ? 'detaching' : refused ? 'refused' : p.suspended ? 'suspended' : p.no_more_work ? 'no more work' : p.trouble ? 'problem' : p.initialized ? 'attached' : 'new';
    text(state, st);
    state.classList.toggle('off', st !== 'attached' && st !== 'new');
    const all = view.status.projects.reduce((sum, q) => sum + q.resource_share, 0);
    const share = all ? p.resource_share / all : 0;
    bar.value = share;
    const debt = p.debt_cpu_seconds;
    const balance = debt >= 60 ? `owed ${span(debt)} of CPU time` : debt <= -60 ? `${span(-debt)} of CPU time ahead` : 'balanced';
    text(owed, `${Math.round(100 * share)} % (${p.resource_share}), ${balance}`);
    text(took, span(p.cpu_seconds));
    text(account, p.user_name ? `${p.user_name}, credit ${number(p.user_total_credit)} (this computer ${number(p.host_total_credit)})` : '–');
    text(contact, (p.last_contact ? `last ${when(p.last_contact)}` : 'never') + (p.next_contact ? `, next ${when(p.next_contact)}` : ''));
    text(why, [p.trouble, p.trouble_cure, p.failing?.text, p.failing?.stderr && `Its last lines: ${p.failing.stderr.replaceAll('\n', ' | ')}`, p.failing?.cure, p.work_code === 'tasks_fail' || p.trouble && p.work_code === p.trouble_code ? '' : work(view, p)].filter(Boolean).join(' '));
    why.title = p.trouble_detail ?? '';
    const s = view.plans[u]?.session;
    text(next, !s ? '' : s.kind !== 'none' ? `Contact now: ${s.why}` : s.why !== view.plans[u].fetch.text ? `Contact: ${reason(s.why, s.until)}` : '');
    keep(notices, p.notices ?? [], (n) => n, (n) => Object.assign(make('li', { class: 'stop' }, n), { update() {} }));
    show(notices, !!p.notices?.length);
    swap(resume, suspend, !!p.suspended);
    swap(more, finish, !!p.no_more_work);
  };
  return e;
}

// Transfers.

function transferRow(x) {
  const what = make('span'); const state = make('span', { class: 'pill' });
  const bar = make('progress', { max: 1, 'aria-label': `Transfer of ${x.name}` });
  const why = make('p', { class: 'small number' });
  const again = make('button', { 'aria-label': `Retry ${x.name} now`, onclick: () => act('/api/transfer', { project: x.project, file: x.name, abort: false }, `${x.name}: retrying.`) }, 'Retry now');
  const abort = make('button', {
    'aria-label': `Cancel ${x.name}`,
    onclick: async () => {
      if (await sure(`Cancel the transfer of ${x.name}?`, 'The task that needs this file will fail.', 'Cancel transfer')) act('/api/transfer', { project: x.project, file: x.name, abort: true }, `${x.name}: canceled.`);
    },
  }, 'Cancel transfer');
  const e = make('li', {}, make('div', { class: 'top' }, what, state), bar, why, make('div', { class: 'actions' }, again, abort));
  e.update = (x) => {
    text(what, `${x.upload ? '↑ Uploading' : '↓ Downloading'} ${x.name}`);
    text(state, x.active ? 'active' : 'waiting');
    state.classList.toggle('off', !x.active);
    show(bar, x.size > 0);
    bar.value = x.size ? Math.min(1, x.bytes / x.size) : 0;
    text(why, [x.size ? `${bytes(x.bytes)} of ${bytes(x.size)}` : bytes(x.bytes), x.trouble, x.next_try && new Date(x.next_try) > Date.now() ? `next try ${when(x.next_try)}` : ''].filter(Boolean).join('; '));
    show(again, !x.active);
  };
  return e;
}

// Credit.

function creditCard() {
  const title = make('h3'); const sum = make('p', { class: 'number big' }); const box = make('div');
  const legend = make('p', { class: 'small legend' }, make('i'), 'Your account', make('i', { class: 'mine' }), 'This computer');
  const e = make('li', {}, title, sum, box, legend);
  let drawn = '';
  e.update = (p) => {
    text(title, name(p));
    text(sum, number(p.user_total_credit));
    const days = view.credit[p.master_url] ?? [];
    const now = JSON.stringify(days);
    if (now !== drawn) { drawn = now; box.replaceChildren(chart(days, name(p))); }
  };
  return e;
}

// Messages.

function addMessages(lines) {
  const list = $('messages-list');
  const end = list.scrollHeight - list.scrollTop - list.clientHeight < 8;
  for (const m of lines) {
    const p = view?.status.projects?.find((p) => p.master_url === m.project);
    list.append(make('li', { class: m.priority > 1 ? 'act' : undefined }, make('time', { datetime: m.time }, when(m.time)),
      (m.project ? `${p ? name(p) : m.project}: ` : '') + m.text));
  }
  while (list.children.length > 500) list.firstElementChild.remove();
  if (end) list.scrollTop = list.scrollHeight;
}

// All of it.

function showAll(v) {
  const before = view;
  view = v;
  const s = v.status;
  s.projects ??= []; s.tasks ??= []; s.transfers ??= [];
  const order = (t) => (t.running ? 0 : t.state === 'ready' || t.fraction_done >= 1 ? 2 : 1);
  const tasks = s.tasks.toSorted((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
  const shown = tasks.slice(0, 200);
  showNow(v);
  keep($('tasks-list'), shown, (t) => `${t.project} ${t.name}`, taskCard);
  keep($('projects-list'), s.projects, (p) => p.master_url, projectCard);
  keep($('transfers-list'), s.transfers.slice(0, 100), (x) => `${x.project} ${x.name}`, transferRow);
  const credited = s.projects.filter((p) => v.credit[p.master_url]?.length);
  keep($('credit-list'), credited, (p) => p.master_url, creditCard);
  text($('tasks-count'), tasks.length > shown.length ? `${shown.length} of ${tasks.length} shown` : tasks.length ? String(tasks.length) : '');
  text($('projects-count'), s.projects.length ? String(s.projects.length) : '');
  text($('transfers-count'), s.transfers.length ? String(s.transfers.length) : '');
  show($('tasks-empty'), !tasks.length);
  show($('projects-empty'), !s.projects.length);
  show($('transfers-empty'), !s.transfers.length);
  show($('credit-empty'), !credited.length);
  text($('about'), `Starling ${s.version}, running since ${when(s.since)}, data in ${s.data_dir}`);
  for (const t of before?.status.tasks ?? []) {
    const now = tasks.find((n) => n.name === t.name && n.project === t.project);
    if (t.fraction_done < 1 && t.running && (!now || now.fraction_done >= 1)) say(`${t.name} is finished.`);
  }
}

// Without the agent nothing on the page is true any longer, and nothing can be done there.
function connected(yes) {
  text($('link'), yes ? 'live' : 'offline');
  $('link').classList.toggle('off', !yes);
  document.body.classList.toggle('stale', !yes);
  for (const e of document.querySelectorAll('main > section, .modes')) if (e.id !== 'now') e.inert = !yes;
  if (yes) return;
  text($('now-title'), 'The agent does not answer');
  text($('now-text'), `It may have been stopped. To start it, run: sudo starling service start, or starling run.${seen ? ` What you see below is from ${when(seen)}.` : ''}`);
  $('whys').replaceChildren();
  document.title = 'No answer · Starling';
}

let events;
function listen() {
  events?.close();
  events = new EventSource('/api/events');
  events.addEventListener('open', () => { connected(true); $('messages-list').replaceChildren(); });
  events.addEventListener('view', (e) => { seen = new Date().toISOString(); showAll(JSON.parse(e.data)); });
  events.addEventListener('messages', (e) => addMessages(JSON.parse(e.data)));
  events.addEventListener('error', () => {
    connected(false);
    // A browser gives up after an answer that is no stream; the agent may be back.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  });
}

// Attaching.

$('attach-open').addEventListener('click', () => { text($('attach-fault'), ''); $('attach').showModal(); });
$('attach').querySelector('[data-close]').addEventListener('click', () => $('attach').close());
$('attach-form').addEventListener('submit', async (e) => {
  e.preventDefault();
  const button = e.target.querySelector('[type=submit]');
  button.disabled = true;
  text($('attach-fault'), '');
  try {
    await call('/api/attach', { url: $('attach-url').value.trim(), email: $('attach-email').value.trim(), password: $('attach-password').value, key: $('attach-key').value.trim() });
    e.target.reset();
    $('attach').close();
    say('Attached. Contacting the project now.');
  } catch (err) {
    text($('attach-fault'), err.message);
  }
  button.disabled = false;
});

listen();
loadPrefs().catch((e) => complain(e.message));
