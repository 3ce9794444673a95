// A table of any length with only the visible rows on the page. All rows have the same height,
// --row of the style sheet.
//
// The heading of the group at the upper edge stays in view: its row is on the page as long as one of
// its group is, and the style sheet lets it stick.

import { make } from './dom.js';

const spare = 8; // rows beyond the edges

// newTable makes a table. options are
//
//	label         for screen readers
//	key(item)     returns a unique key
//	create(item)  returns a row for it
//	fill(row, item)
//	pin(item)     reports whether it is a heading that stays in view (optional)
//
// It returns {element, head, body, set, focus, refresh, forget}: head is the row of headings.
export function newTable({ id, label, key, create, fill, pin }) {
  const above = make('tr', { class: 'space', 'aria-hidden': 'true' }, make('td'));
  const below = make('tr', { class: 'space', 'aria-hidden': 'true' }, make('td'));
  const head = make('tr', { 'aria-rowindex': 1 });
  const body = make('tbody', {}, above, below);
  const table = make('table', { 'aria-label': label }, make('thead', {}, head), body);
  const element = make('div', { id, class: 'virtual', tabindex: 0, role: 'region', 'aria-label': label }, table);
  let items = [], rows = new Map(), planned = false, last = 0; // last is the latest height of a row

  const height = () => parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 36;

  function draw() {
    planned = false;
    if (!element.clientHeight) return; // not in sight
    const h = height();
    if (last && h !== last) { // stay at the same item
      const top = (element.scrollTop / last) * h;
      below.firstElementChild.style.height = `${items.length * h}px`;
      element.scrollTop = top;
    }
    last = h;
    const first = Math.max(0, Math.floor(element.scrollTop / h) - spare);
    const end = Math.min(items.length, Math.ceil((element.scrollTop + element.clientHeight) / h) + spare);
    const pinned = pin && first ? items.findLastIndex((x, i) => i < first && pin(x)) : -1;
    const sight = items.slice(first, end), old = rows;
    if (pinned >= 0) sight.unshift(items[pinned]);
    const indexOf = (i) => (pinned < 0 ? first + i : i ? first + i - 1 : pinned);
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    rows = new Map(sight.map((item) => [key(item), null]));
    for (const [k, row] of old) if (!rows.has(k)) row.remove();
    let at = above.nextElementSibling;
    sight.forEach((item, i) => {
      const k = key(item), row = old.get(k) ?? create(item);
      rows.set(k, row);
      if (row === at) at = at.nextElementSibling;
      else body.insertBefore(row, at);
      if (row.index !== indexOf(i)) row.setAttribute('aria-rowindex', indexOf(i) + 2);
      row.index = indexOf(i);
      fill(row, item);
    });
    above.firstElementChild.style.height = `${(pinned < 0 ? first : first - 1) * h}px`;
    below.firstElementChild.style.height = `${(items.length - end) * h}px`;
    if (focused && document.activeElement === document.body) {
      if (focused.isConnected) focused.focus({ preventScroll: true }); // it was moved
      else element.focus({ preventScroll: true }); // it was scrolled away
    }
  }

  // forget makes the next set or refresh make all rows anew.
  function forget() {
    for (const row of rows.values()) row.remove();
    rows = new Map();
  }

  function refresh() {
    if (planned) return;
    planned = true;
    requestAnimationFrame(draw);
  }

  // focus moves the focus to the element that a selector finds in the row of an index.
  function focus(index, selector) {
    index = Math.max(0, Math.min(items.length - 1, index));
    const h = height(), top = index * h, bar = head.offsetHeight, heading = pin && !pin(items[index]) ? h : 0;
    if (top - heading < element.scrollTop) element.scrollTop = top - heading;
    else if (top + h > element.scrollTop + element.clientHeight - bar) element.scrollTop = top + h - element.clientHeight + bar;
    draw();
    const row = rows.get(key(items[index]));
    (row?.querySelector(selector) ?? row?.querySelector('a, button'))?.focus({ preventScroll: true });
  }

  element.addEventListener('keydown', (e) => {
    const page = Math.max(1, Math.floor(element.clientHeight / height()) - 2);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[e.key];
    const row = e.target.closest('tbody tr');
    if (!by || !row || e.ctrlKey || e.altKey || e.metaKey || !items.length) return;
    e.preventDefault();
    focus(row.index + by, e.target.matches('input') ? 'input' : 'a, button');
  });
  element.addEventListener('scroll', refresh, { passive: true });
  new ResizeObserver(refresh).observe(element);

  return {
    element, head, body, focus, refresh, forget,
    set(all) {
      items = all;
      table.setAttribute('aria-rowcount', items.length + 1);
      draw();
    },
  };
}
