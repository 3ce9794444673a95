// Times, durations, sizes and counts for people, in the language of the page.

import { tr, plural, count, locale } from './language.js';

const two = (n) => String(n).padStart(2, '0');

// span is a duration in words, from seconds, in two units at most.
export function span(s) {
  s = Math.round(s);
  const units = (a, x, b, y) => (b ? `${a} ${x} ${b} ${y}` : `${a} ${x}`);
  if (s < 60) return `${s} s`;
  if (s < 3600) return units(Math.floor(s / 60), 'min', s % 60, 's');
  if (s < 86400) return units(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min');
  return units(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h');
}

// clock is the time of day.
export function clock(t) {
  const d = new Date(t);
  return `${two(d.getHours())}:${two(d.getMinutes())}`;
}

// when returns a time as in the agent's sentences, as the time of day if it is today and otherwise
// with its date.
export function when(t) {
  const d = new Date(t), time = clock(d);
  const days = Math.round((new Date(d).setHours(12, 0, 0, 0) - new Date().setHours(12, 0, 0, 0)) / 86400e3);
  if (days === 0) return `${time}:${two(d.getSeconds())}`;
  if (days === 1) return tr('tomorrow at {time}', { time });
  return days === -1 ? tr('yesterday at {time}', { time }) : tr('{date} {time}', { date: date(d), time });
}

// date is a day.
export function date(t) {
  const d = new Date(t);
  return day(`${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`);
}

// day is a day that is given as year-month-day.
export function day(s) {
  const [year, month, day] = s.split('-');
  return tr('{year}-{month}-{day}', { year, month, day });
}

// far is a duration in one unit, from seconds: "26 h", "2 days".
export function far(s) {
  if (s < 3600) return `${Math.max(1, Math.round(s / 60))} min`;
  return s < 36 * 3600 ? `${Math.round(s / 3600)} h` : count(Math.round(s / 86400), 'day');
}

// relative is the distance of a time: "in 26 h", "2 days ago".
export function relative(t) {
  const s = (t - Date.now()) / 1000, distance = Math.abs(s), days = Math.round(distance / 86400);
  if (distance < 36 * 3600) return s >= 0 ? tr('in {time}', { time: far(distance) }) : tr('{time} ago', { time: far(distance) });
  return s >= 0 ? plural(days, 'in {n} day', 'in {n} days') : plural(days, '{n} day ago', '{n} days ago');
}

// moment is a time with its day: "today at 21:43", "Wed 25 Nov at 21:43".
export function moment(t) {
  const d = new Date(t), now = new Date(), year = d.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  if (d.toDateString() === now.toDateString()) return tr('today at {time}', { time: clock(d) });
  const day = d.toLocaleDateString(locale, { weekday: 'short', day: 'numeric', month: 'short', year }).replace(',', '');
  return tr('{day} at {time}', { day, time: clock(d) });
}

// reason returns a sentence with the time until which it is true, if the time is known and not in
// the sentence.
export function reason(sentence, until) {
  return until && !/\d:\d\d/.test(sentence) && new Date(until) > Date.now() ? tr('{sentence} (until {time})', { sentence, time: when(until) }) : sentence;
}

// youCan returns how a problem can be solved, or nothing.
export const youCan = (cure) => (cure ? tr('You can: {cure}', { cure }) : '');

const decimals = (n, least, most = least) => n.toLocaleString(locale, { minimumFractionDigits: least, maximumFractionDigits: most, useGrouping: false });

// bytes is a size in the words of the package internal/words.
export function bytes(n) {
  if (n < 1024) return plural(n, '{n} byte', '{n} bytes', { n: String(n) });
  const units = ['KB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let i = 0;
  for (n /= 1024; n >= 1023.95 && i < units.length - 1; n /= 1024) i++;
  return `${decimals(n, 0, 1)} ${units[i]}`;
}

// energy returns the energy of tasks, or false if it is not known.
export function energy(x) {
  const scaled = (n, unit, thousand) => {
    const [value, name] = n >= 999.5 ? [n / 1000, thousand] : [n, unit];
    return `${decimals(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${name}`;
  };
  const wh = (n) => scaled(n, 'Wh', 'kWh');
  if (!(x.energy_wh > 0)) return false;
  const energy = wh(x.energy_wh);
  if (!(x.co2_of_wh > 0)) return energy;
  const mass = scaled(x.co2_grams ?? 0, 'g', 'kg');
  return x.co2_of_wh < 0.99 * x.energy_wh ? tr('{energy}, {mass} CO2 for {part} of it', { energy, mass, part: wh(x.co2_of_wh) }) : tr('{energy}, {mass} CO2', { energy, mass });
}

export const number = (n) => n.toLocaleString(locale, n && Math.abs(n) < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: Math.abs(n) < 100 ? 1 : 0 });

// whole is a whole number.
export const whole = (n) => n.toLocaleString(locale);

// list joins names.
export const list = (names, type = 'conjunction') => new Intl.ListFormat(locale, { type }).format(names);

// percent is a part of one.
export const percent = (part) => `${decimals(100 * part, 0)} %`;

// debt describes the CPU time that a project is owed, given in seconds.
export function debt(s) {
  if (s >= 60) return tr('owed {time}', { time: span(s) });
  return s <= -60 ? tr('{time} ahead', { time: span(-s) }) : tr('balanced');
}
