// The computer's activities and their times in words: "On battery 23:10–06:40".

import { make, text, keep } from './dom.js';
import { tr, inside, locale } from './language.js';
import { clock, date, span } from './words.js';

// The causes of suspended computing: its name in two or three words, and the preference that decides
// it. The agent's sentence has the rest.
const causes = {
  user_request: [tr('Suspended by you')], time_of_day: [tr('Outside the hours of computing'), 'start_hour'], on_battery: [tr('On battery'), 'run_on_batteries'],
  user_active: [tr('Computer in use'), 'run_if_user_active'], no_recent_input: [tr('No recent input'), 'suspend_if_no_recent_input'], cpu_busy: [tr('Other programs busy'), 'suspend_cpu_usage'],
  exclusive_app: [tr('Exclusive application running')], too_hot: [tr('CPU too hot'), 'max_cpu_temperature'], disk_full: [tr('Disk full'), 'disk_max_used_gb'],
};
const off = { asleep: tr('Asleep'), killed: tr('Ended unexpectedly'), stopped: tr('Off') };

// labelOf returns the label of a span.
export function labelOf(s) {
  switch (s.state) {
    case 'computing': return tr('Computing');
    case 'waiting': return tr('No task to run');
    case 'suspended': return causes[s.code]?.[0] ?? tr('Suspended');
    default: return off[s.code] ?? off.stopped;
  }
}

// causeOf returns the name of a cause inside a sentence: "on battery", "CPU too hot".
export const causeOf = (code) => inside(causes[code]?.[0] ?? tr('by the preferences'));

// kindOf returns the label of a span whose reason is next to it.
export const kindOf = (s) => (s.state === 'suspended' ? tr('Suspended') : labelOf(s));

// whyOf returns the reason of a span, without the names of preferences at its end.
export const whyOf = (s) => (s.why ?? '').replace(/ \([a-z]+_[a-z_, ]+\)/, '');

// preferenceOf returns the address of the preference that decides a span, if there is one.
export function preferenceOf(s) {
  const key = s.state === 'suspended' && causes[s.code]?.[1];
  return key ? `/preferences?key=${key}` : undefined;
}

// timesOf returns the times of a span. The end has a date only if the time of day alone would mislead.
export function timesOf(s) {
  if (s.open) return tr('since {time}', { time: clock(s.start) });
  const next = Date.parse(s.end) - Date.parse(s.start) >= 86400e3;
  return `${clock(s.start)}–${next ? `${date(s.end)} ` : ''}${clock(s.end)}`;
}

export const sentence = (s) => `${labelOf(s)} ${timesOf(s)}`;

// dayName is a day as a heading.
export function dayName(t) {
  const days = Math.round((new Date().setHours(12, 0, 0, 0) - new Date(t).setHours(12, 0, 0, 0)) / 86400e3);
  const weekday = new Date(t).toLocaleDateString(locale, { weekday: 'short' });
  return { 0: tr('Today'), 1: tr('Yesterday') }[days] ?? tr('{weekday} {day}', { weekday, day: new Date(t).getDate() });
}

// newList makes a list of spans by the days on which they started, the latest first. Its
// method set shows spans in that order.
export function newList() {
  const element = make('div', { id: 'spans', role: 'region', 'aria-label': tr('What the computer did') });
  element.set = (spans) => {
    const days = new Map();
    for (const s of spans) {
      const name = dayName(s.start);
      if (!days.has(name)) days.set(name, []);
      days.get(name).push(s);
    }
    keep(element, [...days], ([name]) => name, ([name]) => {
      const list = make('ul', { class: 'rows' });
      const e = make('div', {}, make('h3', {}, name), list);
      e.update = ([, some]) => keep(list, some, (s) => s.start, line);
      return e;
    });
  };
  return element;
}

function line() {
  const what = make('span'), why = make('span', { class: 'small' });
  const e = make('li', {}, what, ' ', why);
  e.update = (s) => {
    text(what, sentence(s));
    text(why, [span(Math.max(0, Date.parse(s.end) - Date.parse(s.start)) / 1000), s.why].filter(Boolean).join('. '));
  };
  return e;
}
