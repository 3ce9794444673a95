// The overview until a project is attached: what a newcomer wants to know, and one question.

import { make, text, show } from './dom.js';
import { icon } from './icons.js';
import { tr, rich } from './language.js';
import { call } from './ask.js';
import { openAttach, fits } from './attach.js';

const offered = 3; // projects at first

// buildWelcome makes the page {element, update}.
export function buildWelcome() {
  const cards = make('fieldset', { class: 'three', id: 'welcome-projects' });
  const fault = make('p', { class: 'bad', role: 'alert', hidden: true }, tr('No project answers. Check the network.'), ' ', make('button', { onclick: load }, tr('Try again')));
  const manager = make('p', { id: 'welcome-manager' }), touch = make('p', { id: 'welcome-touch' });
  const onward = make('button', { id: 'welcome-go', class: 'primary large', disabled: true, onclick: () => openAttach(chosen.url) }, tr('Continue'));
  const choice = make('div', {}, cards, make('p', { class: 'links' },
    make('button', { class: 'link', onclick: () => openAttach() }, tr('See all projects')), make('button', { class: 'link', id: 'welcome-address', onclick: () => openAttach('') }, tr('Enter a project’s address')),
    make('button', { class: 'link', id: 'welcome-join', onclick: () => openAttach('') }, tr('Use an account manager'))), fault);
  const fact = (name, title, ...words) => make('section', {}, icon(name), make('div', {}, make('h3', {}, title), ...words));
  const about = make('div', { class: 'three about' },
    fact('energy', tr('What it costs'), make('p', {}, tr('Electricity. A computer that is busy draws more power than an idle one: about 15 W more for a laptop, 50 to 150 W for a desktop. At 50 W, ten hours use 0.5 kWh. Fans may get louder.'))),
    fact('lock', tr('What a task may touch'), touch),
    fact('back', tr('You stay in control'), make('p', {}, ...rich('Tasks run at the lowest priority. Pause them at any time, or set hours, CPUs, a temperature limit and battery use in {preferences}.', { preferences: make('a', { href: '/preferences' }, tr('Preferences')) }))));
  const element = make('div', { id: 'welcome', class: 'welcome', hidden: true },
    make('div', {}, make('h2', {}, tr('Give this computer’s spare time to science')),
      make('p', { class: 'soft' }, tr('Starling runs tasks of a research project in the background and sends the results back. Choose a project to start with. You can add others later.'))),
    manager, choice, about,
    make('div', { class: 'onward' }, onward, make('p', { class: 'small' }, tr('Next: log in or create a free account with the project. Nothing runs before that.'))));
  let asked = false, ready = false, managed = false, chosen, platforms;

  // arrange shows what can be shown without moving later.
  function arrange() {
    show(about, ready);
    for (const e of [choice, onward.parentElement]) show(e, ready && !managed);
  }

  // load gets the projects to offer, and asks each of them whether it has applications for this computer.
  async function load() {
    show(fault, false);
    const [known, facts] = await Promise.all([call('/api/known'), call('/api/welcome')]).catch(() => [[], {}]);
    text(touch, facts.touch ?? '');
    const first = known.filter((k) => k.first);
    const all = (first.length ? first : known).slice(0, offered).map(card);
    cards.replaceChildren(make('legend', { class: 'unseen' }, tr('Project')), ...all.map((c) => c.label));
    if (all.length) choose(all[0]);
    ready = true;
    arrange();
    const answers = await Promise.all(all.map((c) => c.ask()));
    if (all.length && answers.every((ok) => !ok)) {
      show(fault, true);
      onward.disabled = true;
    } else if (chosen.radio.disabled) all.find((c) => !c.radio.disabled)?.radio.click();
  }

  function choose(c) {
    chosen = c;
    c.radio.checked = true;
    onward.disabled = false;
    text(onward, tr('Continue with {project}', { project: c.name }));
  }

  function card(k) {
    const radio = make('input', { type: 'radio', name: 'welcome', onchange: () => choose(c) }), has = make('span', { class: 'has small' }, tr('Asking the project…'));
    const label = make('label', { class: 'card choose' }, radio, make('strong', {}, k.name), make('span', { class: 'small' }, k.area[0].toUpperCase() + k.area.slice(1)), make('span', {}, k.about), has);
    const c = { name: k.name, url: k.url, radio, label };
    // ask asks the project and reports whether it answered.
    c.ask = async () => {
      try {
        const ok = fits(await call('/api/attach/config', { url: k.url }), platforms);
        radio.disabled = ok === false;
        has.replaceChildren(...(ok === undefined ? [tr('Does not say which computers it supports')] : ok ? [icon('check'), tr('Has applications for this computer')] : [tr('Has no applications for this computer')]));
        return true;
      } catch (e) {
        has.replaceChildren(make('span', { class: 'bad', title: e.message }, e.message));
        return false;
      }
    };
    return c;
  }

  return {
    element,
    // update shows the page if no project is attached. It asks the projects once.
    update(m) {
      platforms = m.platforms;
      const yes = !m.projects.length, by = m.status.manager;
      show(element, yes);
      document.body.classList.toggle('first', yes);
      text(manager, by ? tr('Your account manager, {name}, will choose the projects.', { name: by.name || by.url }) : '');
      show(manager, managed = !!by);
      arrange();
      if (yes && !asked) {
        asked = true;
        load();
      }
    },
  };
}
