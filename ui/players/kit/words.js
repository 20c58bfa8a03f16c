// Words come with the payload, from content/. A field is `{{name}}`, or `{{count|one,many}}`: a count with its noun.

function filled(template, fields) {
  return template.replace(/\{\{(\w+)(?:\|([^,}]+),([^}]+))?\}\}/g, (_, name, one, many) => {
    const value = fields[name];
    return one ? `${value} ${value === 1 ? one : many}` : value;
  });
}
