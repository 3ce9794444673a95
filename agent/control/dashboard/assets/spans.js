// The computer's activities and their times in words: "On battery 23:10–06:40".

import { make, text, keep } from './dom.js';
import { date, span } from './words.js';

// Reasons for suspended computing, in two or three words. The agent's sentence has the rest.
const causes = {
  user_request: 'Suspended by you', time_of_day: 'Outside the hours of computing', on_battery: 'On battery', user_active: 'Computer in use',
  no_recent_input: 'No recent input', cpu_busy: 'Other programs busy', exclusive_app: 'Exclusive application running', too_hot: 'CPU too hot',
  disk_full: 'Disk full',
};
const off = { asleep: 'Asleep', killed: 'Ended unexpectedly', stopped: 'Off' };

// labelOf returns the label of a span.
export function labelOf(s) {
  switch (s.state) {
    case 'computing': return 'Computing';
    case 'waiting': return 'No task to run';
    case 'suspended': return causes[s.code] ?? 'Suspended';
    default: return off[s.code] ?? 'Off';
  }
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
  return { 0: 'Today', 1: 'Yesterday' }[days] ?? `${new Intl.DateTimeFormat('en', { weekday: 'short' }).format(new Date(t))} ${date(t)}`;
}

// newList makes a list of spans by the days on which they started, the latest first. Its
// method set shows spans in that order.
export function newList() {
  const element = make('div', { id: 'spans', class: 'spans card', tabindex: 0, role: 'region', 'aria-label': 'What the computer did' });
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
