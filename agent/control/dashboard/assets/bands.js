// The timeline as a drawing: a band for each day, with an axis of hours.

import { make, svg } from './dom.js';
import { percent } from './words.js';
import { dayName, sentence } from './spans.js';

const width = 640, left = 110, right = 24, row = 30, thick = 20, axis = 24;
const kinds = { computing: 'Computing', waiting: 'No task to run', suspended: 'Suspended', off: 'Off' };

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

// bands draws spans from the first of these midnights to the last, the latest day on top.
export function bands(spans, edges) {
  const days = edges.length - 1, height = days * row + axis;
  const e = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img' });
  const sums = {};
  for (let hour = 0; hour <= 24; hour += 3) {
    const x = left + ((width - left - right) * hour) / 24;
    e.append(svg('path', { class: 'grid', d: `M${x} 0V${height - axis}` }), svg('text', { x, y: height - 6, class: 'middle' }, `${String(hour).padStart(2, '0')}:00`));
  }
  for (let day = days - 1, y = 0; day >= 0; day--, y += row) {
    const [start, end] = [edges[day], edges[day + 1]];
    const x = (t) => left + ((width - left - right) * (t - start)) / (end - start);
    e.append(svg('text', { x: left - 8, y: y + row / 2 + 4, class: 'end' }, dayName(start)));
    for (const s of spans) {
      const from = Math.max(start, Date.parse(s.start)), to = Math.min(end, Date.parse(s.end));
      if (to <= from) continue;
      const kind = kinds[s.state] ? s.state : 'off';
      sums[kind] = (sums[kind] ?? 0) + to - from;
      e.append(svg('rect', { class: `span ${kind}`, x: x(from), y: y + (row - thick) / 2, width: Math.max(0.5, x(to) - x(from)), height: thick }, svg('title', {}, sentence(s))));
    }
  }
  const all = Object.values(sums).reduce((a, b) => a + b, 0);
  const part = (kind) => `${kinds[kind]} ${percent(all ? (sums[kind] ?? 0) / all : 0)}`;
  e.setAttribute('aria-label', `What the computer did in the last ${days} days. ${Object.keys(kinds).map(part).join('; ')} of the time that is known.`);
  const legend = make('ul', { class: 'legend' }, ...Object.keys(kinds).map((kind) => make('li', {},
    svg('svg', { class: 'swatch', viewBox: '0 0 8 8', 'aria-hidden': 'true' }, svg('rect', { class: `span ${kind}`, width: 8, height: 8, rx: 2 })), part(kind))));
  return make('figure', {}, e, legend);
}
