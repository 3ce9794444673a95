// Times, durations, sizes and counts for people.

// span is a duration in words, from seconds, in two units at most.
export function span(s) {
  s = Math.round(s);
  const two = (a, x, b, y) => (b ? `${a} ${x} ${b} ${y}` : `${a} ${x}`);
  if (s < 60) return `${s} s`;
  if (s < 3600) return two(Math.floor(s / 60), 'min', s % 60, 's');
  if (s < 86400) return two(Math.floor(s / 3600), 'h', Math.floor((s % 3600) / 60), 'min');
  return two(Math.floor(s / 86400), 'd', Math.floor((s % 86400) / 3600), 'h');
}

// when returns a time as in the agent's sentences, as the time of day if it is today and otherwise
// with its date.
export function when(t) {
  const d = new Date(t);
  const two = (n) => String(n).padStart(2, '0');
  const clock = `${two(d.getHours())}:${two(d.getMinutes())}`;
  const days = Math.round((new Date(d).setHours(12, 0, 0, 0) - new Date().setHours(12, 0, 0, 0)) / 86400e3);
  const near = { 0: `${clock}:${two(d.getSeconds())}`, 1: `tomorrow at ${clock}`, '-1': `yesterday at ${clock}` };
  return near[days] ?? `${date(d)} ${clock}`;
}

// date is a day.
export function date(t) {
  const d = new Date(t);
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, '0')}-${String(d.getDate()).padStart(2, '0')}`;
}

// far is a duration in one unit, from seconds: "26 h", "2 days".
export function far(s) {
  if (s < 3600) return `${Math.max(1, Math.round(s / 60))} min`;
  return s < 36 * 3600 ? `${Math.round(s / 3600)} h` : count(Math.round(s / 86400), 'day');
}

// relative is the distance of a time: "in 26 h", "2 days ago".
export function relative(t) {
  const s = (t - Date.now()) / 1000;
  return s >= 0 ? `in ${far(s)}` : `${far(-s)} ago`;
}

// moment is a time with its day: "today at 21:43", "Wed 25 Nov at 21:43".
export function moment(t) {
  const d = new Date(t), now = new Date(), year = d.getFullYear() === now.getFullYear() ? undefined : 'numeric';
  const day = d.toDateString() === now.toDateString() ? 'today' : d.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short', year }).replace(',', '');
  return `${day} at ${d.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
}

// reason returns a sentence with the time until which it is true, if the time is known and not in
// the sentence.
export function reason(sentence, until) {
  return until && !/\d:\d\d/.test(sentence) && new Date(until) > Date.now() ? `${sentence} (until ${when(until)})` : sentence;
}

// bytes is a size in the words of the package internal/words.
export function bytes(n) {
  if (n < 1024) return `${n} ${n === 1 ? 'byte' : 'bytes'}`;
  const units = ['KB', 'MB', 'GB', 'TB', 'PB', 'EB'];
  let i = 0;
  for (n /= 1024; n >= 1023.95 && i < units.length - 1; n /= 1024) i++;
  return `${n.toFixed(1).replace('.0', '')} ${units[i]}`;
}

// energy returns the energy of tasks, or false if it is not known.
export function energy(x) {
  const scaled = (n, unit, thousand) => {
    const [value, name] = n >= 999.5 ? [n / 1000, thousand] : [n, unit];
    return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${name}`;
  };
  const wh = (n) => scaled(n, 'Wh', 'kWh');
  if (!(x.energy_wh > 0)) return false;
  if (!(x.co2_of_wh > 0)) return wh(x.energy_wh);
  return `${wh(x.energy_wh)}, ${scaled(x.co2_grams ?? 0, 'g', 'kg')} CO2${x.co2_of_wh < 0.99 * x.energy_wh ? ` for ${wh(x.co2_of_wh)} of it` : ''}`;
}

export const number = (n) => n.toLocaleString(undefined, n && Math.abs(n) < 1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: Math.abs(n) < 100 ? 1 : 0 });

// percent is a part of one.
export const percent = (part, digits = 0) => `${(100 * part).toFixed(digits)} %`;

// count is a number with its noun.
export const count = (n, noun) => `${n.toLocaleString()} ${noun}${n === 1 ? '' : 's'}`;

// debt describes the CPU time that a project is owed, given in seconds.
export function debt(s) {
  if (s >= 60) return `owed ${span(s)}`;
  return s <= -60 ? `${span(-s)} ahead` : 'balanced';
}
