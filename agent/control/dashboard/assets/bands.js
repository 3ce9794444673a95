// The timeline as a drawing: a band for each day, of one height, in which color alone is the state.
// The line below it has one span in words.

import { make, text, show } from './dom.js';
import { tr } from './language.js';
import { percent, span } from './words.js';
import { dayName, kindOf, timesOf, whyOf, preferenceOf } from './spans.js';

const kinds = { computing: tr('Computing'), waiting: tr('No task to run'), suspended: tr('Suspended'), off: tr('Off') };

// midnights are the starts of the last days and of tomorrow, oldest first, in local time:
// a day in which the clock is changed has 23 hours or 25.
export function midnights(now, days) {
  const all = [];
  for (let i = days - 1; i >= -1; i--) {
    const d = new Date(now);
    all.push(new Date(d.getFullYear(), d.getMonth(), d.getDate() - i).getTime());
  }
  return all;
}

const stateOf = (s) => (kinds[s.state] ? s.state : 'off');

// shares are the parts of the states in whole percent, which add up to 100.
export function shares(sums) {
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  const parts = Object.keys(kinds).map((kind) => {
    const exact = all ? (100 * (sums[kind] ?? 0)) / all : 0;
    return { kind, whole: Math.floor(exact), rest: exact % 1 };
  });
  let missing = all ? 100 - parts.reduce((n, p) => n + p.whole, 0) : 0;
  for (const p of [...parts].sort((a, b) => b.rest - a.rest)) if (missing-- > 0) p.whole++;
  return Object.fromEntries(parts.map((p) => [p.kind, p.whole / 100]));
}

// newBands makes the drawing {element, legend, set}. Its method set draws spans, the latest first, from
// the first of some midnights to the last.
export function newBands() {
  const rows = make('div', { class: 'days' }), hours = make('div', { class: 'hours', 'aria-hidden': 'true' });
  for (let hour = 0; hour <= 24; hour += 3) {
    const e = make('span', {}, `${String(hour).padStart(2, '0')}:00`);
    e.style.left = `${(100 * hour) / 24}%`;
    hours.append(e);
  }
  const when = make('b'), what = make('span'), why = make('span', { class: 'soft' }), change = make('a', {}, tr('Change'));
  const line = make('p', { class: 'chosen', id: 'chosen-span', 'aria-live': 'polite' }, when, what, why, change);
  const drawing = make('div', { class: 'bands', tabindex: 0, role: 'group', 'aria-describedby': 'chosen-span' }, rows);
  const legend = make('ul', { class: 'legend' });
  const element = make('div', { id: 'bands', class: 'card' }, drawing, line);
  let all = [], chosen; // chosen is the span that a person, or the page at first, selected

  // say writes a span's line and marks it in the drawing.
  function say(s) {
    for (const e of drawing.querySelectorAll('.span')) e.classList.toggle('marked', e.span === s);
    text(when, `${dayName(s.start)}, ${timesOf(s)}`);
    text(what, tr('{state} for {time}', { state: kindOf(s), time: span(Math.max(0, Date.parse(s.end) - Date.parse(s.start)) / 1000) }));
    text(why, whyOf(s));
    const to = preferenceOf(s);
    show(change, !!to);
    if (to) change.href = to;
  }

  function choose(s) {
    chosen = s;
    say(s);
  }

  // move chooses the span before or after in time, or at the same time of another day.
  function move(key) {
    const i = all.indexOf(chosen), middle = (Date.parse(chosen.start) + Date.parse(chosen.end)) / 2;
    const at = (t) => all.find((s) => Date.parse(s.start) <= t && t < Date.parse(s.end));
    const next = { ArrowLeft: () => all[i + 1], ArrowRight: () => all[i - 1], ArrowUp: () => at(middle + 86400e3), ArrowDown: () => at(middle - 86400e3), Home: () => all.at(-1), End: () => all[0] }[key];
    if (next) choose(next() ?? chosen);
    return !!next;
  }

  drawing.addEventListener('keydown', (e) => { if (chosen && !e.ctrlKey && !e.altKey && !e.metaKey && move(e.key)) e.preventDefault(); });
  drawing.addEventListener('pointerover', (e) => { if (e.target.span) say(e.target.span); });
  drawing.addEventListener('pointerleave', () => { if (chosen) say(chosen); });
  drawing.addEventListener('click', (e) => { if (e.target.span) choose(e.target.span); });

  function set(spans, edges) {
    all = spans;
    const days = edges.length - 1, sums = {};
    rows.replaceChildren();
    for (let day = days - 1; day >= 0; day--) {
      const [start, end] = [edges[day], edges[day + 1]];
      const band = make('div', { class: 'band' });
      let computed = 0;
      for (const s of spans) {
        const from = Math.max(start, Date.parse(s.start)), to = Math.min(end, Date.parse(s.end));
        if (to <= from) continue;
        const kind = stateOf(s), e = make('i', { class: `span ${kind}` });
        sums[kind] = (sums[kind] ?? 0) + to - from;
        if (kind === 'computing') computed += to - from;
        e.span = s;
        e.style.left = `${(100 * (from - start)) / (end - start)}%`;
        e.style.width = `${(100 * (to - from)) / (end - start)}%`;
        band.append(e);
      }
      rows.append(make('span', {}, dayName(start)), band, make('span', { class: 'num' }, computed ? span(Math.round(computed / 60e3) * 60) : '–'));
    }
    rows.append(make('span'), hours, make('span', { class: 'num', 'aria-hidden': 'true' }, kinds.computing));
    const parts = shares(sums);
    const sum = Object.keys(kinds).map((kind) => `${kinds[kind]} ${percent(parts[kind])}`).join(', ');
    drawing.setAttribute('aria-label', tr('What the computer did in the last {n} days. {sum}. Arrow keys move from one time to the next.', { n: days, sum }));
    legend.replaceChildren(...Object.keys(kinds).map((kind) => make('li', {}, make('i', { class: `swatch ${kind}` }), kinds[kind], ' ', make('b', {}, percent(parts[kind])))));
    chosen = (chosen && all.find((s) => s.start === chosen.start)) ?? all.find((s) => s.state === 'suspended') ?? all[0];
    show(line, !!chosen);
    if (chosen) say(chosen);
  }

  return { element, legend, set };
}
