// The computer's activities and their times in words: "On battery 23:10–06:40".

import { make, text, keep } from './dom.js';
import { date, span } from './words.js';

// The causes of suspended computing: its name in two or three words, and the preference that decides
// it. The agent's sentence has the rest.
const causes = {
  user_request: ['Suspended by you'], time_of_day: ['Outside the hours of computing', 'start_hour'], on_battery: ['On battery', 'run_on_batteries'],
  user_active: ['Computer in use', 'run_if_user_active'], no_recent_input: ['No recent input', 'suspend_if_no_recent_input'], cpu_busy: ['Other programs busy', 'suspend_cpu_usage'],
  exclusive_app: ['Exclusive application running'], too_hot: ['CPU too hot', 'max_cpu_temperature'], disk_full: ['Disk full', 'disk_max_used_gb'],
};
const off = { asleep: 'Asleep', killed: 'Ended unexpectedly', stopped: 'Off' };

// labelOf returns the label of a span.
export function labelOf(s) {
  switch (s.state) {
    case 'computing': return 'Computing';
    case 'waiting': return 'No task to run';
    case 'suspended': return causes[s.code]?.[0] ?? 'Suspended';
    default: return off[s.code] ?? 'Off';
  }
}

// causeOf returns the name of a cause inside a sentence: "on battery", "CPU too hot".
export const causeOf = (code) => (causes[code]?.[0] ?? 'by the preferences').replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase());

// kindOf returns the label of a span whose reason is next to it.
export const kindOf = (s) => (s.state === 'suspended' ? 'Suspended' : labelOf(s));

// whyOf returns the reason of a span, without the names of preferences at its end.
export const whyOf = (s) => (s.why ?? '').replace(/ \([a-z]+_[a-z_, ]+\)/, '');

// preferenceOf returns the address of the preference that decides a span, if there is one.
export function preferenceOf(s) {
  const key = s.state === 'suspended' && causes[s.code]?.[1];
  return key ? `/preferences?key=${key}` : undefined;
}

const two = (n) => String(n).padStart(2, '0');
const clock = (t) => `${two(new Date(t).getHours())}:${two(new Date(t).getMinutes())}`;

// timesOf returns the times of a span. The end has a date only if the time of day alone would mislead.
export function timesOf(s) {
  if (s.open) return `since ${clock(s.start)}`;
  const next = Date.parse(s.end) - Date.parse(s.start) >= 86400e3;
  return `${clock(s.start)}–${next ? `${date(s.end)} ` : ''}${clock(s.end)}`;
}

export const sentence = (s) => `${labelOf(s)} ${timesOf(s)}`;

// dayName is a day as a heading.
export function dayName(t) {
  const days = Math.round((new Date().setHours(12, 0, 0, 0) - new Date(t).setHours(12, 0, 0, 0)) / 86400e3);
  return { 0: 'Today', 1: 'Yesterday' }[days] ?? `${new Intl.DateTimeFormat('en', { weekday: 'short' }).format(new Date(t))} ${new Date(t).getDate()}`;
}

// newList makes a list of spans by the days on which they started, the latest first. Its
// method set shows spans in that order.
export function newList() {
  const element = make('div', { id: 'spans', role: 'region', 'aria-label': 'What the computer did' });
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
