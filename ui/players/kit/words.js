// Words come with the payload, from content/. A field is `{{name}}`, or `{{count|one,many}}`: a count with its noun,
// in the form that the page's language asks for; `{{count|=is,are}}` is the word alone. The language's code and its
// decimal mark come along: a player may draw before the shell has put them into the page.

let spoken = { lang: 'en', decimal: '.' };

function speakAs(words) {
  spoken = words;
}

// A number in the language's marks; words stay as they are.
const marked = (value) => (typeof value === 'number' ? String(value).replace('.', spoken.decimal) : value);

function formOf(count, forms) {
  const rules = new Intl.PluralRules(spoken.lang);
  const kinds = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((kind) => rules.resolvedOptions().pluralCategories.includes(kind));
  return forms[Math.min(kinds.indexOf(rules.select(count)), forms.length - 1)];
}

// Numbers at one with their units where a line ends.
const joined = (text) => text.replace(/(\d) (?=(?:[mnµ]?s|[KkMGT]?i?B(?:\/s)?)(?!\w))/g, '$1\u00a0');

function filled(template, fields) {
  return joined(template.replace(/\{\{(\w+)(?:\|(=?)([^}]+))?\}\}/g, (_, name, alone, forms) => {
    const value = fields[name];
    if (!forms) return marked(value);
    const noun = formOf(Number(value), forms.split(','));
    return alone ? noun : `${marked(value)} ${noun}`;
  }));
}
