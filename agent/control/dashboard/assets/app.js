// The page listens to the agent and shows its data.

import { $, text, show } from './dom.js';
import { tr } from './language.js';
import { when, far } from './words.js';
import { say } from './ask.js';
import { listen } from './live.js';
import { newModel } from './model.js';
import { useModel } from './attach.js';
import { startModes } from './modes.js';
import * as tabs from './tabs.js';

let seen; // when the last view came
setTimeout(() => { if ($('loading')) text($('loading').lastElementChild, tr('Connecting…')); }, 2000);
let firstLines = true;

// Without the agent the page is out of date and cannot be used.
function connected(yes) {
  text($('link'), yes ? tr('live') : tr('offline'));
  document.body.classList.toggle('stale', !yes);
  for (const e of document.querySelectorAll('main > section, #drawer')) if (e.id !== 'gone') e.inert = !yes;
  show($('gone'), !yes);
  if (yes) return;
  const start = tr('It may have been stopped. To start it, run: sudo starling service start, or starling run.');
  text($('gone-text'), seen ? `${start} ${tr('What you see below is from {time}.', { time: when(seen) })}` : start);
  document.title = `${tr('No answer')} · Starling`;
}

let over; // tasks with nothing left to compute when last looked at, by key

// finished announces newly finished tasks. A task may take less than a second.
function finished(m) {
  const now = new Map(m.tasks.filter((t) => t.status === 'finished' || t.status === 'uploading').map((t) => [t.key, t.name]));
  for (const [key, name] of now) if (over && !over.has(key)) say(tr('{task} is finished.', { task: name }));
  over = now;
}

tabs.start();
const showModes = startModes();
listen({
  open() { firstLines = true; connected(true); },
  lost() { connected(false); },
  view(doc) {
    seen = new Date().toISOString();
    $('loading')?.remove();
    const m = newModel(doc);
    finished(m);
    useModel(m);
    showModes(m);
    tabs.update(m);
    const s = m.status;
    text($('host'), m.host.name ?? '');
    text($('about'), tr('Starling {version} · running for {time}', { version: s.version, time: far((Date.now() - Date.parse(s.since)) / 1000) }));
  },
  messages(lines) { tabs.messages(lines, firstLines); firstLines = false; },
});
