// The drawer at the side of the page, which shows one item in full.

import { $, text, show } from './dom.js';
import { icon } from './icons.js';

let open, back, leave;

// openDrawer opens the drawer for a key unless it is open for it already, and returns its body for the
// caller to fill, which is empty if the drawer was just opened. closed is called when a person
// closes it. of, if there is one, is the project {projectName, color} to which the item belongs.
export function openDrawer(key, title, closed, of) {
  const body = $('drawer-body');
  leave = closed;
  text($('drawer-title'), title);
  show($('drawer-of'), !!of);
  text($('drawer-of').lastElementChild, of?.projectName ?? '');
  $('drawer-of').firstElementChild.className = `key ${of?.color ?? ''}`;
  if (open === key) return { body, fresh: false };
  if (!open) back = document.activeElement;
  open = key;
  body.replaceChildren();
  show($('drawer'), true);
  document.body.classList.add('beside');
  $('drawer').scrollTop = 0;
  $('drawer-title').focus({ preventScroll: true });
  return { body, fresh: true };
}

// isOpen reports whether the drawer is open for a key.
export const isOpen = (key) => open === key;

// close closes the drawer and returns the focus to its previous place, which may have been made anew.
export function close() {
  if (!open) return;
  open = undefined;
  const had = $('drawer').contains(document.activeElement) || document.activeElement === document.body;
  show($('drawer'), false);
  document.body.classList.remove('beside');
  $('drawer-body').replaceChildren();
  if (had && back?.isConnected) back.focus({ preventScroll: true });
}

$('drawer-close').append(icon('close'));
$('drawer-close').addEventListener('click', () => leave());
document.addEventListener('keydown', (e) => {
  if (e.key === 'Escape' && open && !document.querySelector('dialog[open]')) leave();
});
