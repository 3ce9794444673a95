// Charts with axes and values, drawn as SVG: lines over days, and bars that compare.

import { make, svg } from './dom.js';
import { tr, inside } from './language.js';
import { number, percent, when, clock, day } from './words.js';

const width = 640, height = 240, left = 64, right = 12, top = 12, bottom = 28;

// ticks are round numbers from 0 up to most or more.
export function ticks(most, wanted = 4) {
  if (!(most > 0)) return [0, 1];
  const rough = most / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((f) => f * power >= rough * (1 - 1e-9)) * power;
  const all = [];
  for (let i = 0; ; i++) {
    all.push(Number((i * step).toPrecision(12)));
    if (i * step >= most * (1 - 1e-9)) return all;
  }
}

const iso = (t) => new Date(t).toISOString().slice(0, 10);

function short(t) {
  const [, month, day] = iso(t).split('-');
  return tr('{month}-{day}', { month, day });
}

const perDay = { heading: tr('Day'), short, long: (t) => day(iso(t)) };

// perMinute makes lines write times of day instead of days.
export const perMinute = { heading: tr('Time'), short: clock, long: when };

// lines draws series over days: [{name, points: [[time, value], …]}]. It adds a legend with the
// last values, and a table of all values for people who cannot see the drawing. how is the format
// of times that are not days.
export function lines(title, series, how = perDay) {
  const times = [...new Set(series.flatMap((s) => s.points.map(([t]) => t)))].sort((a, b) => a - b);
  const scale = ticks(Math.max(0, ...series.flatMap((s) => s.points.map(([, v]) => v))));
  const first = times[0], last = times.at(-1);
  const x = (t) => (last > first ? left + ((width - left - right) * (t - first)) / (last - first) : width - right);
  const y = (v) => height - bottom - ((height - top - bottom) * v) / scale.at(-1);
  const label = `${title}. ${series.map((s) => `${s.name}: ${number(s.points.at(-1)[1])}`).join('; ')}.`;
  const e = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label });
  for (const v of scale) {
    e.append(svg('path', { class: 'grid', d: `M${left} ${y(v)}H${width - right}` }), svg('text', { x: left - 8, y: y(v) + 4, class: 'end y' }, number(v)));
  }
  const step = Math.max(1, Math.ceil(times.length / 7));
  times.forEach((t, i) => {
    if ((times.length - 1 - i) % step) return;
    const at = x(t) > width - 40 ? 'end' : x(t) < left + 20 ? 'start' : 'middle';
    e.append(svg('path', { class: 'grid', d: `M${x(t)} ${height - bottom}v4` }), svg('text', { x: x(t), y: height - 8, class: at }, how.short(t)));
  });
  series.forEach((s, i) => {
    const points = s.points.map(([t, v]) => `${x(t)} ${y(v)}`);
    e.append(svg('path', { class: `line s${i % 6}`, d: `M${points.join('L')}` }));
    const [cx, cy] = points.at(-1).split(' ');
    e.append(svg('circle', { class: `dot s${i % 6}`, cx, cy, r: 3.5 }));
  });
  const legend = make('ul', { class: 'legend' }, ...series.map((s, i) => make('li', {}, swatch(i), `${s.name}: ${number(s.points.at(-1)[1])}`)));
  return make('figure', {}, make('figcaption', {}, title), e, legend, values(times, series, how));
}

function swatch(i) {
  return svg('svg', { class: 'swatch', viewBox: '0 0 20 8', 'aria-hidden': 'true' }, svg('path', { class: `line s${i % 6}`, d: 'M0 4H20' }));
}

function values(times, series, how) {
  const cell = (s, t) => s.points.find(([at]) => at === t)?.[1];
  const table = make('table', { class: 'plain' },
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, how.heading), ...series.map((s) => make('th', { scope: 'col', class: 'num' }, s.name)))),
    make('tbody', {}, ...times.toReversed().map((t) => make('tr', {}, make('th', { scope: 'row' }, how.long(t)),
      ...series.map((s) => make('td', { class: 'num' }, cell(s, t) === undefined ? '–' : number(cell(s, t))))))));
  return make('details', {}, make('summary', {}, tr('Show data')), make('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': series.length === 1 ? tr('Data: {name}', { name: series[0].name }) : tr('Data: all') }, table));
}

// bars compares fractions: [{name, parts: [a, b]}]. names are the names of the parts.
export function bars(title, names, items) {
  const row = 44, axis = 22, all = items.length * row + axis, start = 200;
  const most = ticks(100 * Math.max(0.01, ...items.flatMap((i) => i.parts))).map((v) => v / 100);
  const x = (v) => start + ((width - start - 60) * v) / most.at(-1);
  const label = `${title}. ${items.map((i) => `${i.name}: ${i.parts.map((v, k) => `${inside(names[k])} ${percent(v)}`).join(', ')}`).join('; ')}.`;
  const e = svg('svg', { class: 'chart', viewBox: `0 0 ${width} ${all}`, role: 'img', 'aria-label': label });
  for (const v of most) e.append(svg('path', { class: 'grid', d: `M${x(v)} 0V${all - axis}` }), svg('text', { x: x(v), y: all - 6, class: 'middle' }, percent(v)));
  items.forEach((item, i) => {
    const name = item.name.length > 26 ? `${item.name.slice(0, 25)}…` : item.name;
    e.append(svg('text', { x: start - 10, y: i * row + 24, class: 'end' }, name));
    item.parts.forEach((v, k) => {
      const y = i * row + 5 + k * 17;
      e.append(svg('rect', { class: `bar s${k}`, x: start, y, width: Math.max(1, x(v) - start), height: 14, rx: 2 }), svg('text', { x: x(v) + 6, y: y + 11 }, percent(v)));
    });
  });
  const legend = make('ul', { class: 'legend' }, ...names.map((n, k) => make('li', {}, svg('svg', { class: 'swatch', viewBox: '0 0 20 8', 'aria-hidden': 'true' }, svg('rect', { class: `bar s${k}`, width: 20, height: 8, rx: 2 })), n)));
  return make('figure', {}, make('figcaption', {}, title), e, legend);
}
