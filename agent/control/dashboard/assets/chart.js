// Credit over the days, as a drawing.

import { number } from './dom.js';

const svg = (tag, attributes) => {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, v] of Object.entries(attributes)) e.setAttribute(name, v);
  return e;
};

// chart draws the credit of an account, and what this computer has of it.
export function chart(days, title) {
  const width = 300, height = 100;
  const times = days.map((d) => Date.parse(d.day));
  const first = times[0], last = times.at(-1);
  const most = Math.max(1e-9, ...days.map((d) => Math.max(d.user, d.host)));
  const x = (t) => (last > first ? (width * (t - first)) / (last - first) : width);
  const y = (v) => height - (height - 4) * (v / most);
  const line = (of) => (days.length === 1 ? `M0 ${y(of(days[0]))}H${width}` : 'M' + days.map((d, i) => `${x(times[i])} ${y(of(d))}`).join('L'));
  const date = (t) => new Date(t).toISOString().slice(0, 10);
  const label = `Credit of ${title}: ${number(days.at(-1).user)} on ${date(last)}` + (days.length > 1 ? `, ${number(days[0].user)} on ${date(first)}` : '') + `; this computer ${number(days.at(-1).host)}.`;
  const e = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  e.append(svg('path', { class: 'floor', d: `M0 ${height}H${width}` }), svg('path', { d: line((d) => d.user) }), svg('path', { class: 'mine', d: line((d) => d.host) }));
  return e;
}
