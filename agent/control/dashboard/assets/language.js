// The language of the page. Texts are written in English, with names in braces for values, and the
// agent has their translations. Where one is missing, the text is in English.

export const language = document.documentElement.lang;

// locale selects the formats of numbers and dates.
export const locale = language === 'en' ? 'en-GB' : language;

// The translations are strings, or objects of strings by plural category.
const catalog = language === 'en' ? {} : await fetch('/catalog.json').then((r) => r.json()).catch(() => ({}));
const rules = new Intl.PluralRules(locale);

const write = (v) => (typeof v === 'number' ? v.toLocaleString(locale) : v);
const fill = (template, values) => template.replace(/\{(\w+)\}/g, (name, key) => write(values[key]) ?? name);

// tr translates a text. Its argument is a literal, so that a test finds it.
export const tr = (english, values = {}) => fill(catalog[english] ?? english, values);

// plural translates a text about n things. one is the English text about one of them.
export function plural(n, one, other, values = {}) {
  const forms = catalog[other] ?? { one, other };
  return fill(typeof forms === 'string' ? forms : forms[rules.select(n)] ?? forms.other, { n, ...values });
}

// count is a number with its noun.
export const count = (n, noun) => plural(n, `{n} ${noun}`, `{n} ${noun}s`);

// rich translates a text whose values are elements, and returns its pieces.
export const rich = (english, elements) => (catalog[english] ?? english).split(/\{(\w+)\}/).map((s, i) => (i % 2 ? elements[s] : s));

// inside returns a label for the middle of a sentence. Only English writes it in another way there.
export const inside = (label) => (language === 'en' ? label.replace(/^[A-Z](?=[a-z])/, (c) => c.toLowerCase()) : label);
