// A board and a plan become SVG. Every part knows at which steps it is seen and where it then stands.

const SVG_NS = 'http://www.w3.org/2000/svg';
const ARROW_MS = { in: 0, bar: 160, out: 320, result: 480 };

function el(tag, attributes = {}, children = []) {
  const node = document.createElementNS(SVG_NS, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function text(x, y, words, cls, attributes = {}) {
  return el('text', { x, y, class: cls, ...attributes }, [words]);
}

// Lines between the numbers of a rank's block.
const hairline = (theme, rank) => (theme.dark ? theme.solid(rank) : mix(theme.solid(rank), theme.text, 0.6));

function drawBoard(board, plan, colours, words) {
  const parts = [];
  const root = el('g');
  const add = (node, part) => {
    root.append(node);
    parts.push({ node, delay: 0, at: () => ({ x: 0, y: 0 }), ...part });
  };
  board.rows.forEach((row, index) => drawLinks(board, row, board.rows[index - 1], plan, add));
  board.rows.forEach((row, index) => {
    drawLabels(row, plan, add);
    if (row.kind === 'bar') drawBar(row, board.rows[index + 1], board, plan, colours, add);
    else drawTensor(row, board, plan, colours, add, board.rows[index - 1]);
  });
  drawRanks(board, plan, colours, words, add);
  return { root, parts };
}

function drawRanks(board, plan, colours, words, add) {
  const s = plan.size.text;
  for (let rank = 0; rank < board.num_ranks; rank += 1) {
    const x = plan.column(rank);
    const key = el('rect', { x: x - 2.5 * s, y: 1, width: s * 0.83, height: s * 0.83, class: 'edge', style: `fill:${colours.solid(rank)}` });
    const tall = plan.size.touch ?? s * 1.7;
    const hit = el('rect', { x: x - 3 * s, y: s * 0.45 - tall / 2, width: 6.4 * s, height: tall, rx: 4, class: 'hit rank-hit',
      'data-only': rank, role: 'button', tabindex: 0, 'aria-label': filled(words.only, { rank }), 'aria-pressed': false });
    add(el('g', {}, [key, text(x - 1.3 * s, s * 0.76, filled(words.rank, { rank }), 'rank'), hit]), { seen: (step) => step > 0, rank });
  }
}

// Name in the serif and shape in code: in the gutter, or above the row where there is none.
function drawLabels(row, plan, add) {
  const beside = plan.left > 0;
  if (plan.size.unnamed) return;
  if (row.kind === 'bar' && !beside) return;
  const stands = isDense(row) && plan.size.denseBeside;
  const at = (step) => {
    const place = plan.rowAt(row, step === 0 && row.steps.includes(0));
    if (stands && step > 0) return { x: plan.dense - 1.9 * plan.size.name, y: place.y - plan.size.name / 2 };
    return { x: 0, y: beside ? place.y + Math.min(place.h, 3 * plan.ch) / 2 + (plan.size.oneLine || plan.size.nameOnly ? plan.size.name / 3 : 0) : place.y - 7 };
  };
  const changes = isTensor(row) && !isDense(row) && row.whole_shape !== row.shape;
  for (const [shape, when] of stands ? [[row.shape, 'whole'], ['', 'cut']] : changes ? [[row.whole_shape, 'whole'], [row.shape, 'cut']] : [[row.shape, 'ever']]) {
    const seen = (step) => row.steps.includes(step) && (when === 'ever' || (when === 'whole') === (step === 0));
    const place = beside && !plan.size.oneLine ? { x: 0, y: plan.size.code * 1.35 } : { dx: 2 };
    const spans = [el('tspan', { class: 'name' }, [row.name])];
    if (!plan.size.nameOnly) spans.push(' ', el('tspan', { class: 'shape', ...place }, [shape]));
    add(el('text', {}, spans), { seen, at });
  }
}

function drawTensor(row, board, plan, colours, add, previous) {
  const delay = previous?.kind === 'bar' && previous.sent ? ARROW_MS.result : 0;
  row.blocks.forEach((block, index) => {
    const owner = row.owned && block.rank !== null ? block.rank : null;
    add(drawBlock(row, block, index, owner, plan, colours), {
      seen: (step) => row.steps.includes(step),
      at: (step) => blockAt(row, block, plan, step === 0 && row.steps.includes(0)),
      delay, rank: block.rank,
    });
  });
  if (row.steps.includes(0) && !isDense(row)) add(drawWhole(row, plan), { seen: (step) => step === 0 });
}

// A matrix before the cut: one outline, nobody's.
function drawWhole(row, plan) {
  const [rows, columns] = row.whole_cells;
  const [width, height] = [columns * plan.cw, rows * plan.ch];
  const [x, y] = [plan.centre - width / 2, plan.rowAt(row, true).y];
  const lines = gridLines(rows, columns, plan.cw, plan.ch);
  return el('g', {}, [el('g', { transform: `translate(${x} ${y})` }, [...lines, el('rect', { width, height, rx: 2, class: 'outline' })])]);
}

function gridLines(rows, columns, cw, ch) {
  const down = Array.from({ length: columns - 1 }, (_, j) => el('line', { x1: (j + 1) * cw, x2: (j + 1) * cw, y1: 0, y2: rows * ch, class: 'hair' }));
  const across = Array.from({ length: rows - 1 }, (_, i) => el('line', { y1: (i + 1) * ch, y2: (i + 1) * ch, x1: 0, x2: columns * cw, class: 'hair' }));
  return [...down, ...across];
}

// One outline, hairlines between cells, values in ink. Nobody's block is ground-coloured.
function drawBlock(row, block, index, owner, plan, colours) {
  const [rows, columns] = [block.cells.length, block.cells[0].length];
  const { cw, ch, size } = plan;
  const [width, height] = [columns * cw, rows * ch];
  const fill = owner === null ? 'var(--ground)' : colours.fill(owner);
  const edge = owner === null ? colours.text : colours.edge(owner);
  const hair = owner === null ? 'var(--hairline)' : hairline(colours, owner);
  const node = el('g', { class: `block${owner === null ? '' : ' owned'}`, style: `--fill:${fill};--edge:${edge};--hair:${hair}`, 'data-row': row.key, 'data-block': index });
  node.append(el('rect', { width, height, class: 'fill' }));
  for (const [i, j] of block.wrong) node.append(el('rect', { x: j * cw, y: i * ch, width: cw, height: ch, class: 'wrong', fill: 'url(#wrong)' }));
  node.append(...gridLines(rows, columns, cw, ch));
  const isWrong = (i, j) => block.wrong.some(([line, column]) => line === i && column === j);
  block.cells.forEach((cells, i) => cells.forEach((value, j) => {
    node.append(text((j + 0.5) * cw, (i + 0.5) * ch + size.text * 0.34, value, isWrong(i, j) ? 'value haloed' : 'value', { style: fitted(value, cw, size.text) }));
  }));
  block.under.forEach((whole, j) => {
    // nothing is set smaller than a wall or a phone may have it: a number without room for its unit stands alone
    const words = naturalWidth(whole, size.small >= WALL_PX ? size.small : LEAST_PX) > cw - 3 ? whole.split(' ')[0] : whole;
    const cls = block.wrong.length ? 'under off' : 'under';
    node.append(text((j + 0.5) * cw, height + size.small * 1.15, words, cls, { style: fitted(words, cw, size.small) }));
  });
  node.append(el('rect', { width, height, rx: 2, class: 'cut-outline' }));
  return node;
}

const WALL_PX = 24, LEAST_PX = 12;
const BAR_SHARE = 0.9; // of a number's width a letter of a sentence takes
const naturalWidth = (shown, size) => shown.length * size * 0.52;
const barWidth = (row, size) => naturalWidth(row.text, BAR_SHARE * size.text);

// A wider number is set a little smaller rather than over its neighbour.
function fitted(shown, cw, size) {
  const natural = naturalWidth(shown, size);
  return natural > cw - 3 && size < WALL_PX ? `font-size:${((size * (cw - 3)) / natural).toFixed(1)}px` : '';
}

// Thin lines say what is multiplied with what, and where the product comes to stand.
function drawLinks(board, row, previous, plan, add) {
  const whole = board.rows.filter((other) => other.steps.includes(0));
  const above = whole[whole.indexOf(row) - 1];
  if (above) add(drawLink(plan.centre, plan.rowAt(above, true), plan.rowAt(row, true), isDense(row), labelRoom(plan)), { seen: (step) => step === 0 });
  if (!previous || isDense(row) || row.kind === 'bar' || previous.kind === 'bar' || row.link === 'none') return;
  const seen = (step) => step > 0 && row.steps.includes(step) && previous.steps.includes(step);
  for (let rank = 0; rank < board.num_ranks; rank += 1) {
    add(drawLink(plan.column(rank), plan.rowAt(previous, false), plan.rowAt(row, false), row.link === 'arrow', labelRoom(plan)), { seen, rank });
  }
}

function drawLink(x, from, to, pointed, labelsAbove) {
  const ends = { x1: x, x2: x, y1: from.y + from.h + 5, y2: to.y - 5 - labelsAbove };
  return el('line', { ...ends, class: 'link', ...(pointed ? { 'marker-end': 'url(#arrow)' } : {}) });
}

// One collective is one solid bar: arrows in with the sender's colour, arrows out plain, for the result is everyone's.
function drawBar(row, result, board, plan, colours, add) {
  const seen = (step) => row.steps.includes(step);
  const { y, h } = plan.rowAt(row, false);
  const cls = `bar${row.sent ? '' : ' absent'}`;
  const label = text(plan.left + plan.field / 2, y + h / 2 + plan.size.text * 0.36, row.text, row.sent ? 'bar-text' : 'bar absent-text', { style: fitted(row.text, plan.field - 12, BAR_SHARE * plan.size.text) });
  const box = el('rect', { x: plan.left + 1, y, width: plan.field - 2, height: h, rx: 3, class: row.fault ? `${cls} fault` : cls });
  add(el('g', {}, [box, label]), { seen, delay: row.sent ? ARROW_MS.bar : 0 });
  if (!row.sent) return;
  const before = board.rows[board.rows.indexOf(row) - 1];
  const above = plan.rowAt(before, false);
  const below = plan.rowAt(result, false);
  for (let rank = 0; rank < board.num_ranks; rank += 1) {
    const x = plan.column(rank);
    add(thickArrow(x, above.y + above.h + 3, y, colours.solid(rank), plan.size.text / 14.5), { seen, delay: ARROW_MS.in, rank });
    const out = row.results_differ ? { fill: colours.solid(rank) } : {};
    add(plainArrow(x, y + h + 2, below.y - 3 - labelRoom(plan), plan.size.text / 14.5, out.fill), { seen, delay: ARROW_MS.out, rank });
  }
}

// Arrows shrink where rows stand close.
function arrowScale(from, to, k) {
  return Math.min(k, Math.max(0.5, (to - from) / 12));
}

function thickArrow(x, from, to, colour, size) {
  const k = arrowScale(from, to, size);
  const neck = to - 11 * k;
  const shaft = { x1: x, x2: x, y1: from, y2: neck + 3 * k };
  return el('g', {}, [
    el('line', { ...shaft, class: 'shaft-edge', 'stroke-width': 7 * k }),
    el('line', { ...shaft, style: `stroke:${colour}`, 'stroke-width': 4 * k }),
    el('path', { d: `M${x - 9 * k} ${neck}h${18 * k}l${-9 * k} ${11 * k}z`, class: 'edge', style: `fill:${colour}` }),
  ]);
}

// What every rank receives is drawn in ink; where each receives its own, the head has the rank's colour.
function plainArrow(x, from, to, size, own) {
  const k = arrowScale(from, to, size);
  return el('g', {}, [
    el('line', { x1: x, x2: x, y1: from, y2: to - 8 * k, class: 'out', 'stroke-width': 2 * k }),
    el('path', { d: `M${x - 6 * k} ${to - 9 * k}h${12 * k}l${-6 * k} ${9 * k}z`, class: own ? 'edge' : 'out-head', ...(own ? { style: `fill:${own}` } : {}) }),
  ]);
}

// Rings of the followed output, inside the blocks so that they travel with them.
function drawRings(root, followed, plan) {
  root.querySelectorAll('.ring').forEach((ring) => ring.remove());
  for (const ring of followed.rings) {
    const block = root.querySelector(`[data-row="${CSS.escape(ring.row)}"][data-block="${ring.block}"]`);
    const box = { x: ring.left * plan.cw, y: ring.top * plan.ch, width: ring.width * plan.cw, height: ring.height * plan.ch };
    block?.insertBefore(el('rect', { ...box, class: 'ring' }), block.querySelector('.hit'));
  }
}

const DEFINITIONS = `<marker id="arrow" markerWidth="8" markerHeight="8" refX="6" refY="4" orient="auto"><path d="M0 1l6 3-6 3z" class="arrow-head"/></marker>
<pattern id="wrong" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="1.6" height="6" class="wrong-stripe"/></pattern>`;
