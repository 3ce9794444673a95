// A menu: a button that unfolds something.

import { make } from './dom.js';

// newMenu makes a menu. With square, the button has an icon alone, and that name. The menu folds again
// when a person looks elsewhere, presses Escape, or chooses one of its buttons or links.
export function newMenu(attributes, label, content) {
  const { square, ...others } = attributes;
  const e = make('details', { class: 'menu', name: 'menu', ...others }, make('summary', { class: square ? 'button square' : 'button', 'aria-label': square }, ...label), content);
  document.addEventListener('click', (click) => { if (!e.contains(click.target)) e.open = false; });
  content.addEventListener('click', (click) => { if (click.target.closest('button, a')) e.open = false; });
  e.addEventListener('keydown', (key) => {
    if (key.key !== 'Escape' || !e.open) return;
    e.open = false;
    e.firstElementChild.focus();
  });
  return e;
}
