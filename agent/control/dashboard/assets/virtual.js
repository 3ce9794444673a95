// A table of any length with only the visible rows on the page. All rows have the same height,
// --row of the style sheet.

import { make } from './dom.js';

const spare = 8; // rows beyond the edges

// newTable makes a table. options are
//
//	label         for screen readers
//	key(item)     returns a unique key
//	create(item)  returns a row for it
//	fill(row, item)
//
// It returns {element, head, body, set, focus, refresh}: head is the row of headings.
export function newTable({ id, label, key, create, fill }) {
  const above = make('tr', { class: 'space', 'aria-hidden': 'true' }, make('td'));
  const below = make('tr', { class: 'space', 'aria-hidden': 'true' }, make('td'));
  const head = make('tr', { 'aria-rowindex': 1 });
  const body = make('tbody', {}, above, below);
  const table = make('table', { 'aria-label': label }, make('thead', {}, head), body);
  const element = make('div', { id, class: 'virtual', tabindex: 0, role: 'region', 'aria-label': label }, table);
  let items = [], rows = new Map(), planned = false;

  const height = () => parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 36;

  function draw() {
    planned = false;
    if (!element.clientHeight) return; // not in sight
    const h = height();
    const first = Math.max(0, Math.floor(element.scrollTop / h) - spare);
    const last = Math.min(items.length, Math.ceil((element.scrollTop + element.clientHeight) / h) + spare);
    const sight = items.slice(first, last), old = rows;
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    rows = new Map(sight.map((item) => [key(item), null]));
    for (const [k, row] of old) if (!rows.has(k)) row.remove();
    let at = above.nextElementSibling;
    sight.forEach((item, i) => {
      const k = key(item), row = old.get(k) ?? create(item);
      rows.set(k, row);
      if (row === at) at = at.nextElementSibling;
      else body.insertBefore(row, at);
      if (row.index !== first + i) row.setAttribute('aria-rowindex', first + i + 2);
      row.index = first + i;
      fill(row, item);
    });
    above.firstElementChild.style.height = `${first * h}px`;
    below.firstElementChild.style.height = `${(items.length - last) * h}px`;
    if (focused && document.activeElement === document.body) {
      if (focused.isConnected) focused.focus({ preventScroll: true }); // it was moved
      else element.focus({ preventScroll: true }); // it was scrolled away
    }
  }

  function refresh() {
    if (planned) return;
    planned = true;
    requestAnimationFrame(draw);
  }

  // focus moves the focus to the element that a selector finds in the row of an index.
  function focus(index, selector) {
    index = Math.max(0, Math.min(items.length - 1, index));
    const h = height(), top = index * h, bar = head.offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
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
    element, head, body, focus, refresh,
    set(all) {
      items = all;
      table.setAttribute('aria-rowcount', items.length + 1);
      draw();
    },
  };
}
