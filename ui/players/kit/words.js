// Words come with the payload, from content/. A field is `{{name}}`, or `{{count|one,many}}`: a count with its noun,
// in the form that the page's language asks for; `{{count|=is,are}}` is the word alone.

function formOf(count, forms) {
  const rules = new Intl.PluralRules(globalThis.document?.documentElement.lang || 'en');
  const kinds = ['zero', 'one', 'two', 'few', 'many', 'other'].filter((kind) => rules.resolvedOptions().pluralCategories.includes(kind));
  return forms[Math.min(kinds.indexOf(rules.select(count)), forms.length - 1)];
}

function filled(template, fields) {
  return template.replace(/\{\{(\w+)(?:\|(=?)([^}]+))?\}\}/g, (_, name, alone, forms) => {
    const value = fields[name];
    if (!forms) return value;
    const noun = formOf(Number(value), forms.split(','));
    return alone ? noun : `${value} ${noun}`;
  });
}
