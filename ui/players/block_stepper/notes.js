// What stands beside the figure in words: the step, the notes of the page, the followed sum; and the step track.

function html(tag, cls, words = '', children = []) {
  const node = document.createElement(tag);
  if (cls) node.className = cls;
  if (words) node.textContent = joined(words);
  node.append(...children);
  return node;
}

function fillNotes(place, { title, words, notes, step, output, theme, ranks, said }) {
  const first = html('section', 'step', '', [html('h3', '', title), html('p', '', words)]);
  const rest = notes.filter((note) => note.steps.includes(step));
  const shown = rest.map((note) => (note.kind === 'followed' ? followedNote(output, theme, ranks, said) : plainNote(note)));
  place.replaceChildren(first, ...shown);
}

function plainNote(note) {
  const parts = [html('h3', '', note.title)];
  if (note.headline) parts.push(html('p', 'headline', note.headline));
  if (note.text) parts.push(html('p', 'muted', note.text));
  return html('section', '', '', parts);
}

// The sum written out: one line a term, with the key of the rank that made it.
function followedNote(output, theme, ranks, said) {
  const rows = output.terms.map((term) => {
    const key = html('i', 'key');
    key.style.background = ranks > 1 ? theme.solid(term.rank) : 'transparent';
    return html('tr', '', '', [html('td', '', '', [key]), html('td', '', term.label), html('td', 'number', term.value)]);
  });
  const total = html('tr', 'total', '', [html('td'), html('td', '', said.sum), html('td', 'number', output.total)]);
  return html('section', 'followed', '', [html('h3', '', filled(said.followed, output)), html('table', '', '', [html('tbody', '', '', [...rows, total])])]);
}

function fillTrack(track, steps, go) {
  track.replaceChildren(...steps.map((step, index) => {
    const dot = html('button', 'dot', '', [html('span', 'mark'), html('span', 'word', step.name)]);
    dot.ariaLabel = step.name; // its word is out of sight on a phone and on a wall
    dot.onclick = () => go(index);
    return html('li', '', '', [dot]);
  }));
}

function markTrack(track, step) {
  [...track.children].forEach((item, index) => {
    item.dataset.state = index < step ? 'done' : index === step ? 'now' : 'to come';
    const dot = item.firstElementChild;
    if (index === step) dot.setAttribute('aria-current', 'step');
    else dot.removeAttribute('aria-current');
  });
}

const CARRIED = ['fill', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'opacity', 'visibility', 'transform', 'text-anchor', 'font-family', 'font-size', 'font-weight'];

// The picture as a file of its own: computed styles written out, hidden parts left out.
function standalone(svg, theme) {
  const copy = svg.cloneNode(true);
  const originals = [...svg.querySelectorAll('*')];
  [...copy.querySelectorAll('*')].forEach((node, index) => {
    const css = getComputedStyle(originals[index]);
    node.setAttribute('style', CARRIED.map((name) => `${name}:${css.getPropertyValue(name)}`).join(';'));
    for (const name of ['class', 'tabindex', 'role']) node.removeAttribute(name);
  });
  copy.querySelectorAll('[data-follow]').forEach((node) => node.remove());
  [...copy.querySelectorAll('g > *')].filter((node) => node.style.visibility === 'hidden').forEach((node) => node.remove());
  copy.insertBefore(el('rect', { width: '100%', height: '100%', fill: theme.ground }), copy.firstChild);
  copy.setAttribute('xmlns', SVG_NS);
  return copy.outerHTML;
}
