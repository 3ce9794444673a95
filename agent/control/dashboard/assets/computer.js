// The tab of the computer: its hardware and contribution, its disk, its transfers, and charts.

import { make, text, show, keep, facts } from './dom.js';
import { tr, count } from './language.js';
import { bytes, number, percent } from './words.js';
import { lines, bars, perMinute } from './chart.js';
import { buildTransfers } from './transfers.js';
import { nameOf } from './model.js';

let about, disk, diskText, diskBox, transfers, charts, empty, cold;

export function build(section) {
  about = make('dl', { id: 'computer-facts' });
  diskText = make('p', { class: 'small', id: 'disk-text' });
  disk = make('tbody', { id: 'disk-list' });
  diskBox = make('div', { class: 'scroll card' }, make('table', { class: 'plain wide' },
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, tr('Project')), make('th', { scope: 'col', class: 'num' }, tr('Disk')), make('th', { scope: 'col' }, tr('Share of disk')))), disk));
  transfers = buildTransfers();
  charts = [['shares', shares], ['credit', credit], ['average', average], ['temperature', temperature]].map(([id, draw]) => ({ box: make('div', { id: `chart-${id}`, class: 'card' }), draw }));
  empty = make('p', { class: 'empty' }, tr('Charts appear here once a project has granted credit.'));
  cold = make('p', { class: 'empty', id: 'no-sensor' }, tr('No sensor of this computer reports the CPU’s or a GPU’s temperature, so there is no chart of it.'));
  section.append(
    make('div', { class: 'halves' }, make('div', {}, make('h2', {}, tr('This computer')), make('div', { class: 'card filled' }, about)), make('div', {}, make('h2', {}, tr('Disk')), diskText, diskBox)),
    make('h2', {}, tr('Charts')), empty, make('div', { class: 'charts' }, ...charts.map((c) => c.box)), cold, transfers);
}

const sensed = { yes: tr('yes'), no: tr('no') };

export function update(m) {
  const h = m.host, t = m.status.times;
  facts(about, [
    [tr('Name'), h.name], [tr('System'), h.system], [tr('Processor'), h.model],
    [tr('CPUs'), tr('{n} of {all} may be used', { n: m.cpus, all: m.all_cpus })],
    [tr('Coprocessors'), (m.status.coprocs ?? []).join(', ')],
    [tr('GPU sensors'), (m.status.gpus ?? []).map(gpuText).join('; ')],
    [tr('Speed'), h.fpops && tr('{speed} GFLOPS a CPU', { speed: number(h.fpops / 1e9) })],
    [tr('Memory'), [h.memory && bytes(h.memory), m.memory && tr('tasks may use {size}', { size: bytes(m.memory) })].filter(Boolean).join(', ')],
    [tr('CPU temperature'), m.cpu_temperature ? `${Math.round(m.cpu_temperature)} °C` : tr('not known')],
    [tr('On battery'), sensed[m.on_batteries]], [tr('Metered network'), sensed[m.network_metered]],
    [tr('Agent running'), tr('{part} of the time', { part: percent(t.on) })], [tr('Computing allowed'), tr('{part} of that', { part: percent(t.active) })], [tr('Connected'), tr('{part} of that', { part: percent(t.connected) })],
    [tr('Tasks'), count(m.tasks.length, 'task')], [tr('Enforced by'), m.status.bounded],
  ]);
  const d = m.disk;
  text(diskText, d.used < 0 ? tr('Disk use has not been measured yet.') : tr('Starling uses {used} of at most {most}; {free} of {all} is free.', { used: bytes(d.used), most: bytes(d.allowed), free: d.free >= 0 ? bytes(d.free) : tr('an unknown amount'), all: bytes(d.total) }));
  const rows = m.projects.map((p) => ({ key: p.master_url, name: nameOf(p), size: d.projects[p.master_url] ?? 0 })).sort((a, b) => b.size - a.size);
  const rest = d.used - rows.reduce((s, r) => s + r.size, 0);
  if (rest > 0) rows.push({ key: '', name: tr('Running tasks and the agent itself'), size: rest });
  show(diskBox, d.used > 0);
  keep(disk, rows.map((r) => ({ ...r, part: d.used > 0 ? r.size / d.used : 0 })), (r) => r.key, diskRow);
  transfers.update(m.transfers);
  let any = false;
  for (const c of charts) {
    const data = c.draw(m);
    any ||= !!data;
    show(c.box, !!data);
    const now = JSON.stringify(data);
    if (data && now !== c.drawn) c.box.replaceChildren(data.bars ? bars(...data.bars) : lines(...data.lines));
    c.drawn = now;
  }
  show(empty, !any);
  show(cold, !m.cpu_temperature && !m.cpu_temperatures?.length && !m.gpu_temperatures?.length);
}

// gpuText returns the readings of a GPU's sensors.
function gpuText(g) {
  const facts = [];
  if (g.celsius) facts.push(`${Math.round(g.celsius)} °C`);
  if (g.busy !== undefined) facts.push(tr('{part} busy', { part: percent(g.busy) }));
  if (g.memory_bytes) facts.push(tr('{used} of {all} of memory in use', { used: bytes(g.memory_used_bytes ?? 0), all: bytes(g.memory_bytes) }));
  return tr('{gpu} (device {n}): {facts}', { gpu: g.name || g.type, n: g.device_num, facts: facts.join(', ') });
}

function diskRow() {
  const name = make('th', { scope: 'row' }), size = make('td', { class: 'num' }), part = make('progress', { max: 1, 'aria-label': tr('Part of the disk use') });
  const e = make('tr', {}, name, size, make('td', { class: 'part' }, part));
  e.update = (r) => {
    text(name, r.name);
    text(size, bytes(r.size));
    part.value = r.part;
  };
  return e;
}

// The charts. Each returns its drawing, or undefined without data.

function shares(m) {
  const some = m.projects.filter((p) => p.share || p.got);
  if (!some.some((p) => p.got)) return undefined;
  const round = (v) => Math.round(1000 * v) / 1000;
  return { bars: [tr('Share / actual'), [tr('Share'), tr('Actual')], some.map((p) => ({ name: nameOf(p), parts: [round(p.share), round(p.got)] }))] };
}

const series = (m, of) => m.projects.filter((p) => m.credit[p.master_url]?.length)
  .map((p) => ({ name: nameOf(p), points: of(m.credit[p.master_url]) })).filter((s) => s.points.length);

// credit shows the credit that this computer was granted on each day, as the difference of two totals.
function credit(m) {
  const all = series(m, (days) => days.slice(1).map((d, i) => [Date.parse(d.day), Math.max(0, d.host - days[i].host)]));
  return all.length ? { lines: [tr('Credit per day of this computer'), all] } : totals(m);
}

// totals shows the total credit while there is only one day.
function totals(m) {
  const all = series(m, (days) => days.map((d) => [Date.parse(d.day), d.host]));
  return all.length ? { lines: [tr('Credit of this computer'), all] } : undefined;
}

function average(m) {
  const all = series(m, (days) => days.map((d) => [Date.parse(d.day), d.user_rac]));
  return all.length ? { lines: [tr('Average credit per day, by project'), all] } : undefined;
}

// temperature shows the values that are compared with max_cpu_temperature and max_gpu_temperature.
function temperature(m) {
  const series = [[tr('CPU, °C'), m.cpu_temperatures], [tr('Hottest GPU, °C'), m.gpu_temperatures]].filter(([, all]) => all?.length)
    .map(([name, all]) => ({ name, points: all.map((x) => [Date.parse(x.start), x.celsius]) }));
  return series.length ? { lines: [tr('Temperature, the highest of each 5 minutes'), series, perMinute] } : undefined;
}
