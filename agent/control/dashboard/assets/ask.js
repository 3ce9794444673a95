// Requests to the agent, questions to the person, and messages about the outcome.

import { $, text } from './dom.js';
import { tr } from './language.js';

// say shows a success, and complain a failure.
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

// call sends a request to the agent and returns its answer. If the agent refuses, call throws an
// Error with the agent's sentence, and its code if there is one.
export async function call(path, body) {
  const r = await fetch(path, body === undefined ? {} : {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  }).catch(() => { throw new Error(tr('The agent does not respond. Is it still running?')); });
  const v = await r.json().catch(() => ({}));
  if (!r.ok) throw Object.assign(new Error(v.error || tr('The agent returned an error (HTTP {code}).', { code: r.status })), { code: v.code });
  return v;
}

// act sends a request for a button and shows the outcome.
export async function act(path, body, done) {
  try {
    const v = await call(path, body);
    say(typeof done === 'function' ? done(v) : done);
    return true;
  } catch (e) {
    complain(e.message);
    return false;
  }
}

// sure asks before something that loses work. The browser reports a closed dialog with a delay, in
// which it can be open again with the next question.
let answer = () => {};
export function sure(title, explanation, yes) {
  const d = $('sure');
  answer(d.returnValue === 'yes');
  text($('sure-title'), title);
  text($('sure-text'), explanation);
  text($('sure-yes'), yes);
  d.returnValue = 'no';
  d.showModal();
  return new Promise((resolve) => {
    answer = resolve;
    d.onclose = () => { if (!d.open) resolve(d.returnValue === 'yes'); };
  });
}
