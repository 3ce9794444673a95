// The tab of the computer: its hardware and contribution, its disk, its transfers, and charts.

import { make, text, show, keep, facts } from './dom.js';
import { bytes, number, percent, count } from './words.js';
import { lines, bars, perMinute } from './chart.js';
import { buildTransfers } from './transfers.js';
import { nameOf } from './model.js';

let about, disk, diskText, diskBox, transfers, charts, empty, cold;

export function build(section) {
  about = make('dl', { id: 'computer-facts' });
  diskText = make('p', { class: 'small', id: 'disk-text' });
  disk = make('tbody', { id: 'disk-list' });
  diskBox = make('div', { class: 'scroll card' }, make('table', { class: 'plain wide' },
    make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Project'), make('th', { scope: 'col', class: 'num' }, 'Disk'), make('th', { scope: 'col' }, 'Share of disk'))), disk));
  transfers = buildTransfers();
  charts = [['shares', shares], ['credit', credit], ['average', average], ['temperature', temperature]].map(([id, draw]) => ({ box: make('div', { id: `chart-${id}`, class: 'card' }), draw }));
  empty = make('p', { class: 'empty' }, 'Charts appear here once a project has granted credit.');
  cold = make('p', { class: 'empty', id: 'no-sensor' }, "No sensor of this computer reports the CPU's or a GPU's temperature, so there is no chart of it.");
  section.append(
    make('div', { class: 'halves' }, make('div', {}, make('h2', {}, 'This computer'), make('div', { class: 'card filled' }, about)), make('div', {}, make('h2', {}, 'Disk'), diskText, diskBox)),
    make('h2', {}, 'Charts'), empty, make('div', { class: 'charts' }, ...charts.map((c) => c.box)), cold, transfers);
}

const sensed = { yes: 'yes', no: 'no' };

export function update(m) {
  const h = m.host, t = m.status.times;
  facts(about, [
    ['Name', h.name], ['System', h.system], ['Processor', h.model],
    ['CPUs', `${m.cpus} of ${m.all_cpus} may be used`],
    ['Coprocessors', (m.status.coprocs ?? []).join(', ')],
    ['GPU sensors', (m.status.gpus ?? []).map(gpuText).join('; ')],
    ['Speed', h.fpops && `${number(h.fpops / 1e9)} GFLOPS a CPU`],
    ['Memory', [h.memory && bytes(h.memory), m.memory && `tasks may use ${bytes(m.memory)}`].filter(Boolean).join(', ')],
    ['CPU temperature', m.cpu_temperature ? `${Math.round(m.cpu_temperature)} °C` : 'not known'],
    ['On battery', sensed[m.on_batteries]], ['Metered network', sensed[m.network_metered]],
    ['Agent running', `${percent(t.on)} of the time`], ['Computing allowed', `${percent(t.active)} of that`], ['Connected', `${percent(t.connected)} of that`],
    ['Tasks', count(m.tasks.length, 'task')], ['Enforced by', m.status.bounded],
  ]);
  const d = m.disk;
  text(diskText, d.used < 0 ? 'Disk use has not been measured yet.' : `Starling uses ${bytes(d.used)} of at most ${bytes(d.allowed)}; ${d.free >= 0 ? bytes(d.free) : 'an unknown amount'} of ${bytes(d.total)} is free.`);
  const rows = m.projects.map((p) => ({ key: p.master_url, name: nameOf(p), size: d.projects[p.master_url] ?? 0 })).sort((a, b) => b.size - a.size);
  const rest = d.used - rows.reduce((s, r) => s + r.size, 0);
  if (rest > 0) rows.push({ key: '', name: 'Running tasks and the agent itself', size: rest });
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
  if (g.busy !== undefined) facts.push(`${percent(g.busy)} busy`);
  if (g.memory_bytes) facts.push(`${bytes(g.memory_used_bytes ?? 0)} of ${bytes(g.memory_bytes)} of memory in use`);
  return `${g.name || g.type} (device ${g.device_num}): ${facts.join(', ')}`;
}

function diskRow() {
  const name = make('th', { scope: 'row' }), size = make('td', { class: 'num' }), part = make('progress', { max: 1, 'aria-label': 'Part of the disk use' });
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
  return { bars: ['Share / actual', ['Share', 'Actual'], some.map((p) => ({ name: nameOf(p), parts: [round(p.share), round(p.got)] }))] };
}

const series = (m, of) => m.projects.filter((p) => m.credit[p.master_url]?.length)
  .map((p) => ({ name: nameOf(p), points: of(m.credit[p.master_url]) })).filter((s) => s.points.length);

// credit shows the credit that this computer was granted on each day, as the difference of two totals.
function credit(m) {
  const all = series(m, (days) => days.slice(1).map((d, i) => [Date.parse(d.day), Math.max(0, d.host - days[i].host)]));
  return all.length ? { lines: ['Credit per day of this computer', all] } : totals(m);
}

// totals shows the total credit while there is only one day.
function totals(m) {
  const all = series(m, (days) => days.map((d) => [Date.parse(d.day), d.host]));
  return all.length ? { lines: ['Credit of this computer', all] } : undefined;
}

function average(m) {
  const all = series(m, (days) => days.map((d) => [Date.parse(d.day), d.user_rac]));
  return all.length ? { lines: ['Average credit per day, by project', all] } : undefined;
}

// temperature shows the values that are compared with max_cpu_temperature and max_gpu_temperature.
function temperature(m) {
  const series = [['CPU, °C', m.cpu_temperatures], ['Hottest GPU, °C', m.gpu_temperatures]].filter(([, all]) => all?.length)
    .map(([name, all]) => ({ name, points: all.map((x) => [Date.parse(x.start), x.celsius]) }));
  return series.length ? { lines: ['Temperature, the highest of each 5 minutes', series, perMinute] } : undefined;
}
