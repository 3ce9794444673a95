// Icons, drawn with lines of the color of the text around them. They are never the only name of anything.

import { svg } from './dom.js';

const paths = {
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.5 10.5l3 3',
  more: 'M3 8h.1M8 8h.1M13 8h.1',
  close: 'm4 4 8 8M12 4l-8 8',
  copy: 'M7 5.5h5A1.5 1.5 0 0 1 13.5 7v5a1.5 1.5 0 0 1-1.5 1.5H7A1.5 1.5 0 0 1 5.5 12V7A1.5 1.5 0 0 1 7 5.5M10.5 5.5v-3h-8v8h3',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  resume: 'M5 3.2v9.6L12.5 8z',
  add: 'M8 3v10M3 8h10',
  check: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13m-3 6.7 2 2 4-4.2',
  warning: 'M8 2.2 14.5 13.5h-13zM8 6.5v3.2M8 11.6v.1',
  energy: 'M9 1.8 3.5 9H8l-1 5.2L12.5 7H8z',
  lock: 'M4.5 7h7A1.5 1.5 0 0 1 13 8.5v3.5a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 12V8.5A1.5 1.5 0 0 1 4.5 7M5.2 7V5a2.8 2.8 0 0 1 5.6 0v2',
  back: 'M5.5 3 2.5 6l3 3M2.5 6H10a3.5 3.5 0 0 1 0 7H6',
  overview: 'M2.5 7.5 8 3l5.5 4.5v6h-4v-4h-3v4h-4z',
  tasks: 'M6 4h8M6 8h8M6 12h8M2.5 4h.1M2.5 8h.1M2.5 12h.1',
  projects: 'M8 2v4M8 10v4M2.8 5l3.4 2M9.8 9l3.4 2M2.8 11l3.4-2M9.8 7l3.4-2',
  history: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 4.5V8l2.5 1.5',
};

// icon makes one of these icons.
export const icon = (name) => svg('svg', { class: `icon ${name}`, viewBox: '0 0 16 16', 'aria-hidden': 'true' }, svg('path', { d: paths[name] }));
