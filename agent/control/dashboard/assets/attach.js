// Attaching a project: which one, what it needs, and by which account.

import { make, text, show } from './dom.js';
import { tr, plural } from './language.js';
import { call, say } from './ask.js';

let dialog, model;

// useModel sets the model, which has the platforms that the computer can run.
export function useModel(m) { model = m; }

// openAttach opens the dialog at its first step, or for the project of a URL. With "" a person is to
// type the URL. on, if there is one, are the computers {address, title} to choose from.
export async function openAttach(of, on) {
  if (!dialog) {
    dialog = build();
    document.body.append(dialog);
  }
  dialog.step('choose');
  dialog.on(on);
  dialog.showModal();
  if (of !== undefined) dialog.ask(of); // before a person can type
  dialog.offer(await call('/api/known').catch(() => []));
}

const field = (id, label, attributes) => {
  const input = make('input', { id, ...attributes });
  return { input, box: make('div', {}, make('label', { for: id }, label), input) };
};

function build() {
  const title = make('h2', { id: 'attach-title' }, tr('Attach project'));
  const fault = make('p', { id: 'attach-fault', role: 'alert', class: 'bad' });
  const url = field('attach-url', tr('Another project, or an account manager, by its URL'), { type: 'url', placeholder: 'https://', autocomplete: 'url', spellcheck: 'false' });
  const cards = make('ul', { id: 'attach-known', class: 'cards' });
  const choose = make('form', { id: 'attach-choose', novalidate: true }, cards, url.box, make('div', { class: 'actions' }, make('button', { class: 'primary' }, tr('Continue')), cancel()));
  const needs = make('p', { id: 'attach-needs', class: 'small' });
  const kinds = { have: tr('I have an account'), create: tr('Create an account'), key: tr('I have an account key') };
  const owner = make('legend', {});
  const kind = make('fieldset', {}, owner, ...Object.entries(kinds).map(([value, label]) =>
    make('label', { class: 'line' }, make('input', { type: 'radio', name: 'kind', value, id: `attach-${value}` }), ` ${label}`)));
  const email = field('attach-email', tr('E-mail address'), { autocomplete: 'username', spellcheck: 'false' });
  const password = field('attach-password', tr('Password'), { type: 'password', autocomplete: 'current-password' });
  const name = field('attach-name', tr('Public name'), { autocomplete: 'nickname', spellcheck: 'false' });
  const key = field('attach-key', tr('Account key'), { type: 'password', autocomplete: 'off', spellcheck: 'false' });
  const terms = make('pre', { id: 'attach-terms', tabindex: 0, 'aria-label': tr('Terms of use') });
  const accept = make('input', { type: 'checkbox', id: 'attach-accept' });
  const termsBox = make('div', {}, terms, make('label', { class: 'line' }, accept, ` ${tr('I accept the terms of use')}`));
  const create = make('button', { type: 'button', id: 'attach-create-now', onclick: () => { kindIs('create'); fault.textContent = ''; name.input.focus(); } }, tr('Create one'));
  const send = make('button', { class: 'primary', type: 'submit' }, tr('Attach'));
  const back = make('button', { type: 'button', onclick: () => d.step('choose') }, tr('Back'));
  const boxes = make('div', { class: 'links' }), computers = make('fieldset', { id: 'attach-on', hidden: true }, make('legend', {}, tr('On these computers')), boxes, make('p', { class: 'small' }, tr('The password goes to the project only, not to other computers.')));
  const account = make('form', { id: 'attach-account', novalidate: true }, needs, kind, email.box, password.box, name.box, key.box, termsBox, computers);
  const d = make('dialog', { id: 'attach', class: 'broad', 'aria-labelledby': 'attach-title' }, title, choose, account, fault);
  account.append(make('div', { class: 'actions' }, send, create, back, cancel()));
  let config;

  function cancel() { return make('button', { type: 'button', onclick: () => d.close() }, tr('Cancel')); }

  const chosen = () => kind.querySelector('input:checked')?.value;
  function kindIs(value) {
    kind.querySelector(`[value=${value}]`).checked = true;
    show(email.box, value !== 'key');
    show(password.box, value !== 'key');
    show(name.box, value === 'create');
    show(key.box, value === 'key');
    show(termsBox, value === 'create' && !!config.terms);
    show(create, false);
    password.input.autocomplete = value === 'create' ? 'new-password' : 'current-password';
    text(send, config.account_manager ? tr('Join') : value === 'create' ? tr('Create account and attach') : tr('Attach'));
  }

  d.step = (step) => {
    show(choose, step === 'choose');
    show(account, step === 'account');
    text(fault, '');
    if (step === 'choose') text(title, tr('Attach project'));
  };
  let names = new Map(); // the titles of computers by address
  d.on = (on) => {
    names = new Map(on?.map((c) => [c.address, c.title]));
    show(computers, !!on);
    boxes.replaceChildren(...[...names].map(([address, title]) => make('label', { class: 'line' }, make('input', { type: 'checkbox', value: address, checked: true }), ` ${title}`)));
  };
  d.offer = (known) => {
    const there = new Set(model?.projects.map((p) => p.master_url));
    cards.replaceChildren(...known.map((k) => make('li', {}, make('button', { type: 'button', class: 'choice', disabled: there.has(k.url), onclick: () => { url.input.value = k.url; ask(); } },
      make('strong', {}, k.name), make('span', { class: 'state' }, there.has(k.url) ? tr('attached') : k.area), make('span', { class: 'small' }, k.about)))));
  };

  // ask fetches the project's requirements.
  async function ask() {
    text(fault, '');
    choose.inert = true;
    try {
      config = await call('/api/attach/config', { url: url.input.value.trim() });
      if (config.account_manager && names.size) throw new Error(tr('An account manager is joined on each computer, not on several at once.'));
      d.step('account');
      const by = config.account_manager;
      const called = config.name || config.url;
      text(title, by ? tr('Join {name}', { name: called }) : tr('Attach {name}', { name: called }));
      text(needs, `${config.url}. ${by ? tr('This account manager will choose the projects of this computer.') : suits(config)}`);
      text(owner, by ? tr('Your account with the account manager') : tr('Your account with the project'));
      for (const value of ['create', 'key']) show(document.getElementById(`attach-${value}`).parentElement, !by);
      text(terms, config.terms ?? '');
      accept.checked = false;
      if (config.closed) show(document.getElementById('attach-create').parentElement, false);
      email.box.firstChild.textContent = by ? tr('Name or e-mail address') : config.uses_username ? tr('User name') : tr('E-mail address');
      kindIs('have');
      email.input.focus();
    } catch (err) {
      text(fault, err.message);
    }
    choose.inert = false;
  }

  d.ask = (of) => {
    url.input.value = of;
    if (of) ask();
    else url.input.focus();
  };
  choose.addEventListener('submit', (e) => { e.preventDefault(); ask(); });
  kind.addEventListener('change', () => { text(fault, ''); kindIs(chosen()); });
  account.addEventListener('submit', async (e) => {
    e.preventDefault();
    const making = chosen() === 'create';
    const addresses = computers.hidden ? undefined : [...boxes.querySelectorAll('input:checked')].map((b) => b.value);
    const wrong = addresses && !addresses.length ? tr('Choose at least one computer.') : making && password.input.value.length < config.min_password ? tr('Choose a password of at least {n} characters.', { n: config.min_password })
      : making && config.terms && !accept.checked ? tr('To create an account, accept the terms of use.') : '';
    text(fault, wrong);
    if (wrong) return;
    send.disabled = true;
    show(create, false);
    try {
      const request = chosen() === 'key' ? { url: config.url, key: key.input.value.trim() }
        : { url: config.url, email: email.input.value.trim(), password: password.input.value, create: making, name: name.input.value.trim(), accept: accept.checked, account_manager: config.account_manager };
      const failed = addresses ? (await call('/api/computers/attach', { ...request, addresses })).failed : (await call('/api/attach', request), {});
      const bad = Object.entries(failed);
      if (addresses && bad.length < addresses.length) say(plural(addresses.length - bad.length, '{n} computer attached.', '{n} computers attached.'));
      text(fault, bad.map(([a, why]) => `${names.get(a)}: ${why}`).join('\n'));
      if (!bad.length) {
        for (const f of [url, password, key]) f.input.value = '';
        d.close();
        if (!addresses) say(config.account_manager ? tr('Joined. The account manager chooses the projects.') : tr('Attached. Contacting the project now.'));
      }
    } catch (err) {
      const none = err.code === 'no_account' && !config.closed && !config.account_manager;
      text(fault, none ? `${err.message} ${tr('Create one?')}` : err.message);
      show(create, none);
      if (err.code === 'bad_password') password.input.select();
    }
    send.disabled = false;
  });
  return d;
}

// fits reports whether the project has applications for one of some platforms. It returns undefined if
// the project did not tell.
export const fits = (config, platforms) => (config.platforms.length ? (platforms ?? []).some((p) => config.platforms.includes(p)) : undefined);

// suits returns a sentence on whether the project has programs for this computer.
function suits(config) {
  if (!config.platforms.length) return '';
  const own = (model?.platforms ?? []).filter((p) => config.platforms.includes(p));
  const gpu = config.plan_classes.some((c) => /cuda|nvidia|opencl|ati|intel_gpu|gpu/.test(c));
  const here = own.length ? tr('It has applications for this computer ({platform}).', { platform: own[0] })
    : tr('It has no applications for this computer ({platform}), so no work will come. It supports: {platforms}.', { platform: model?.platforms[0] ?? tr('unknown'), platforms: [...new Set(config.platforms)].join(', ') });
  return gpu ? `${here} ${tr('Some of its applications need a GPU.')}` : here;
}
