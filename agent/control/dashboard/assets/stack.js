// A chart of bars over days, stacked by project. The table next to it is its legend.

import { make, svg } from './dom.js';
import { tr, locale } from './language.js';
import { number } from './words.js';
import { ticks } from './chart.js';

const width = 432, height = 220, left = 48, bottom = 24, top = 8;
const label = (t) => t.toLocaleDateString(locale, { day: 'numeric', month: 'short', timeZone: 'UTC' });

// stacked draws series {name, color, values} of the last days, of which the last is today. values has
// one value for each day.
export function stacked(title, series, today = new Date()) {
  const days = series[0].values.length;
  const sums = series[0].values.map((_, i) => series.reduce((n, s) => n + s.values[i], 0));
  const scale = ticks(Math.max(...sums), 3), y = (v) => height - bottom - ((height - bottom - top) * v) / scale.at(-1);
  const step = (width - left) / days, bar = Math.round(0.66 * step);
  const total = (all) => number(all.reduce((a, b) => a + b, 0));
  const about = tr('{title}, {n} days: {values}.', { title, n: days, values: series.map((s) => `${s.name} ${total(s.values)}`).join(', ') });
  const e = svg('svg', { class: 'chart stack', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': about });
  for (const v of scale) e.append(svg('path', { class: 'grid', d: `M${left} ${y(v)}H${width}` }), svg('text', { x: left - 8, y: y(v) + 4, class: 'end' }, number(v)));
  for (let i = 0; i < days; i++) {
    const x = left + i * step + (step - bar) / 2;
    let below = 0;
    for (const s of series) {
      const high = y(below) - y(below + s.values[i]);
      if (high >= 0.5) e.append(svg('rect', { class: s.color, x, y: y(below + s.values[i]), width: bar, height: Math.max(0.5, high - 1) })); // 1 for the gap
      below += s.values[i];
    }
    const ago = days - 1 - i;
    if (i && ago % 7) continue;
    const day = new Date(today.getTime() - ago * 86400e3);
    e.append(svg('text', { x: ago ? x + bar / 2 : width, y: height - 4, class: ago ? (i ? 'middle' : '') : 'end' }, ago ? label(day) : tr('Today')));
  }
  return make('figure', {}, make('figcaption', {}, title), e);
}

// creditOf returns the credit that this computer was granted on each of the last days, by project. From
// the fifth project on they are one series, Others. credit has each project's totals by day. It returns
// nothing if no credit was granted.
export function creditOf(projects, credit, days, today) {
  const series = new Map(), end = Math.floor(today.getTime() / 86400e3);
  for (const p of projects) {
    const totals = credit[p.master_url] ?? [], rest = p.color === 'c5';
    const s = series.get(rest ? '' : p.master_url) ?? { name: rest ? tr('Others') : p.name || p.master_url, color: p.color, values: Array(days).fill(0) };
    totals.slice(1).forEach((d, i) => {
      const at = days - 1 - (end - Math.floor(Date.parse(d.day) / 86400e3));
      if (at >= 0 && at < days) s.values[at] += Math.max(0, d.host - totals[i].host);
    });
    series.set(rest ? '' : p.master_url, s);
  }
  return [...series.values()].filter((s) => s.values.some((v) => v > 0));
}
