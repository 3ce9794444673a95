// Small means to make and keep up to date what is on the page.

export const $ = (id) => document.getElementById(id);

// make makes an element; texts are texts, never markup.
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, v] of Object.entries(attributes)) {
    if (name === 'onclick') e.addEventListener('click', v);
    else if (v !== undefined) e.setAttribute(name, v);
  }
  e.append(...children);
  return e;
}

// text sets a text only where it changed, so that screen readers stay calm.
export function text(e, t) {
  if (e.textContent !== t) e.textContent = t;
}

// show shows an element or hides it.
export function show(e, yes) {
  if (e.hidden === yes) e.hidden = !yes;
}

// swap shows one of two buttons; who had the focus on the other has it on this.
export function swap(a, b, first) {
  const [on, off] = first ? [a, b] : [b, a];
  const had = document.activeElement === off;
  show(on, true);
  show(off, false);
  if (had) on.focus({ preventScroll: true });
}

// keep makes a list's elements those of items, by key, and leaves alone what is
// there: focus stays where it is. create returns an element with a method update.
export function keep(list, items, key, create) {
  const old = new Map([...list.children].map((e) => [e.dataset.key, e]));
  const times = new Map();
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  let at = list.firstElementChild;
  for (const item of items) {
    let k = key(item);
    const n = times.get(k) ?? 0;
    times.set(k, n + 1);
    if (n) k += ` #${n}`; // the same once more
    let e = old.get(k);
    old.delete(k);
    if (!e) {
      e = create(item);
      e.dataset.key = k;
    }
    if (e === at) at = at.nextElementSibling;
    else list.insertBefore(e, at);
    e.update(item);
  }
  for (const e of old.values()) e.remove();
  if (focused?.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true }); // it was moved
}

// span is a duration in words, from seconds.
export function span(s) {
  s = Math.round(s);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

// when is a time as the agent's own sentences have it: the time of day if it is today,
// otherwise with its date.
export function when(t) {
  const d = new Date(t);
  const two = (n) => String(n).padStart(2, '0');
  const clock = `${two(d.getHours())}:${two(d.getMinutes())}`;
  const days = Math.round((new Date(d).setHours(12, 0, 0, 0) - new Date().setHours(12, 0, 0, 0)) / 86400e3);
  const near = { 0: `${clock}:${two(d.getSeconds())}`, 1: `tomorrow at ${clock}`, '-1': `yesterday at ${clock}` };
  return near[days] ?? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock}`;
}

// reason is a sentence with the time when that changes, if it is known and the
// sentence does not give it.
export function reason(sentence, until) {
  return until && !/\d:\d\d/.test(sentence) && new Date(until) > Date.now() ? `${sentence} (until ${when(until)})` : sentence;
}

export function bytes(n) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) { n /= 1000; i++; }
  return `${n.toFixed(n < 10 && i ? 1 : 0)} ${units[i]}`;
}

export const number = (n) => n.toLocaleString(undefined, n < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: n < 100 ? 1 : 0 });

// say tells what was done; complain what was not.
let quiet;
export function say(t) {
  text($('fault'), '');
  text($('said'), t);
  clearTimeout(quiet);
  quiet = setTimeout(() => text($('said'), ''), 6000);
}
export function complain(t) {
  text($('said'), '');
  text($('fault'), t);
  clearTimeout(quiet);
  quiet = setTimeout(() => text($('fault'), ''), 12000);
}

// call asks the agent for something; it throws the agent's sentence when that is no.
export async function call(path, body) {
  const r = await fetch(path, body === undefined ? {} : {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  }).catch(() => { throw new Error('The agent does not respond. Is it still running?'); });
  const v = await r.json().catch(() => ({}));
  if (!r.ok) throw new Error(v.error || `The agent returned an error (HTTP ${r.status}).`);
  return v;
}

// act does that for a button and tells how it went.
export async function act(path, body, done) {
  try {
    await call(path, body);
    say(done);
  } catch (e) {
    complain(e.message);
  }
}

// sure asks before something that cannot be undone.
export function sure(title, explanation, yes) {
  const d = $('sure');
  text($('sure-title'), title);
  text($('sure-text'), explanation);
  text($('sure-yes'), yes);
  d.returnValue = 'no';
  d.showModal();
  return new Promise((resolve) => d.addEventListener('close', () => resolve(d.returnValue === 'yes'), { once: true }));
}
