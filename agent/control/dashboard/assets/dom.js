// Small functions that make and update elements of the page.

export const $ = (id) => document.getElementById(id);

// make makes an element. Texts are never taken for markup. An attribute whose name starts with on
// is a listener. An attribute that is undefined or false is left out.
export function make(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, v] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), v);
    else if (v !== undefined && v !== false) e.setAttribute(name, v === true ? '' : v);
  }
  e.append(...children.filter((c) => c !== undefined && c !== null));
  return e;
}

// svg makes an element of a drawing.
export function svg(tag, attributes, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, v] of Object.entries(attributes)) e.setAttribute(name, v);
  e.append(...children);
  return e;
}

// outside returns a link to a page outside of this computer, which does not learn the address of
// this page. It returns undefined if url is not an address of the web.
export function outside(url, label, title) {
  if (!/^https?:\/\//i.test(url ?? '') || !URL.canParse(url)) return undefined;
  return make('a', { href: url, title, target: '_blank', rel: 'noopener noreferrer' }, label);
}

// text sets a text only where it changed, so that screen readers stay calm.
export function text(e, t) {
  if (e.textContent !== t) e.textContent = t;
}

// show shows an element or hides it.
export function show(e, yes) {
  if (e.hidden === yes) e.hidden = !yes;
}

// swap shows one of two buttons, and moves the focus to it if the other had the focus.
export function swap(a, b, first) {
  const [on, off] = first ? [a, b] : [b, a];
  const had = document.activeElement === off;
  show(on, true);
  show(off, false);
  if (had) on.focus({ preventScroll: true });
}

// keep makes a list contain one element for each of items, by key. It leaves existing elements
// alone, so that the focus stays in place. create returns an element with a method update.
export function keep(list, items, key, create) {
  const old = new Map([...list.children].map((e) => [e.dataset.key, e]));
  const times = new Map();
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  let at = list.firstElementChild;
  for (const item of items) {
    let k = key(item);
    const n = times.get(k) ?? 0;
    times.set(k, n + 1);
    if (n) k += ` #${n}`; // the same once more
    let e = old.get(k);
    old.delete(k);
    if (!e) {
      e = create(item);
      e.dataset.key = k;
    }
    if (e === at) at = at.nextElementSibling;
    else list.insertBefore(e, at);
    e.update?.(item);
  }
  for (const e of old.values()) e.remove();
  if (focused?.isConnected && document.activeElement === document.body) focused.focus({ preventScroll: true }); // it was moved
}

// facts fills a list of terms with [term, value, limit], of which the limit may be missing. It leaves
// out terms without a value.
export function facts(list, all) {
  keep(list, all.filter(([, v]) => v), ([term]) => term, ([term]) => {
    const value = make('span'), limit = make('span', { class: 'soft' });
    const e = make('div', {}, make('dt', {}, term), make('dd', {}, value, limit));
    e.update = ([, v, most]) => {
      text(value, v);
      text(limit, most ? ` ${most}` : '');
    };
    return e;
  });
}
