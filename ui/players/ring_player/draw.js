// The figure at one moment, as SVG: what each rank holds, what is under way, and the stopwatch. It reads, and computes no time.

const clean = (words) => String(words).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const fixed = (number) => Number(number.toFixed(2));

function rect(x, y, width, height, { fill = 'none', stroke = 'none', line = 1, radius = 0, opacity = 1 }) {
  return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(Math.max(0, width))}" height="${fixed(height)}" rx="${radius}" fill="${fill}" stroke="${stroke}" stroke-width="${line}" opacity="${opacity}"/>`;
}

function text(x, y, words, { size, fill, weight = 400, anchor = 'start', family = '' }) {
  const font = family ? ` font-family='${family}'` : '';
  return `<text x="${fixed(x)}" y="${fixed(y)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}"${font}>${clean(words)}</text>`;
}

function stroke(from, to, colour, width, extra = '') {
  return `<line x1="${fixed(from.x)}" y1="${fixed(from.y)}" x2="${fixed(to.x)}" y2="${fixed(to.y)}" stroke="${colour}" stroke-width="${width}" stroke-linecap="round"${extra}/>`;
}

function drawFigure(model, layout, style, at) {
  const courses = model.courses.map((course, i) => drawCourse(course, layout.courses[i], layout, style, at));
  return courses.join('') + drawWatch(model, layout, style, at);
}

function drawCourse(course, place, layout, style, at) {
  const { size } = layout;
  const done = roundsDone(course, at);
  const held = course.held[done];
  return [
    text(place.left, place.top + size.title, course.title, { size: size.title, weight: 600, fill: style.text }),
    text(place.left, place.top + size.title + size.word * 1.45, course.detail, { size: size.word, fill: style.muted }),
    tracksOf(course, place).map((way) => stroke(way.start, way.at(1), style.hairline, size.line)).join(''),
    messagesOf(course, done, at).map((message) => drawMessage(message, place, size, style, course)).join(''),
    held.map((chunks, rank) => drawRank(rank, chunks, course, place, size, style)).join(''),
  ].join('');
}

// What a rank holds: a column a chunk, a row a rank whose part is in it. A full square is a finished sum.
function drawRank(rank, chunks, course, place, size, style) {
  const { block } = place;
  const { x, y, side } = place.places[rank];
  const [left, top] = [x - block / 2, y - block / 2];
  const [cell, row] = [block / course.chunks, block / course.ranks];
  const parts = chunks.flatMap((ranks, chunk) => ranks.map((part) => rect(left + chunk * cell, top + part * row, cell, row, { fill: style.fills[part % style.fills.length] })));
  const whole = chunks.every((ranks) => ranks.length === course.ranks);
  const lines = course.chunks > 1 && cell > 5 ? Array.from({ length: course.chunks - 1 }, (_, i) => stroke({ x: left + (i + 1) * cell, y: top }, { x: left + (i + 1) * cell, y: top + block }, style.ground, 1)).join('') : '';
  const beside = Math.abs(side) > 0.3;
  const label = beside
    ? { x: x + Math.sign(side) * (block / 2 + 7), y: y + size.word * 0.35, anchor: side > 0 ? 'start' : 'end' }
    : { x: left + block + 6, y: top + (y < place.places[Math.floor(course.ranks / 2)].y ? size.word : block - 2), anchor: 'start' };
  return [
    rect(left, top, block, block, { fill: style.ground }), ...parts, lines,
    rect(left, top, block, block, { stroke: whole ? style.text : style.axis, line: whole ? size.line * 2 : size.line, radius: 2 }),
    text(label.x, label.y, rank === course.slow_rank ? `r${rank}, slow` : `r${rank}`, { size: size.word, fill: style.text, weight: whole ? 600 : 400, anchor: label.anchor }),
  ].join('');
}

// Latency: an empty envelope crosses. Bandwidth: it stands at the door and fills.
function drawMessage({ message, crossed, filled }, place, size, style, course) {
  const way = wayOf(place, message);
  const to = way.at(crossed);
  const colour = style.solids[message.source % style.solids.length];
  const crowd = course.rounds[0].messages.length > 2 * course.ranks ? 0.6 : 1;
  const width = Math.max(7, (place.block * 0.5 * crowd * message.chunks) / course.chunks);
  const height = place.block * 0.22 * crowd;
  const [x, y] = [to.x - width / 2, to.y - height / 2];
  return [
    stroke(way.start, to, style.text, size.line * 2), stroke(way.start, to, colour, size.line),
    rect(x, y, width, height, { fill: style.ground, stroke: style.text, line: size.line, radius: 2 }),
    rect(x, y, width * filled, height, { fill: colour, radius: 2 }),
    rect(x, y, width, height, { stroke: style.text, line: size.line, radius: 2 }),
  ].join('');
}

// Every way that some message of this course goes: its shape, before anything moves.
function tracksOf(course, place) {
  const pairs = new Map(course.rounds.flatMap((round) => round.messages).map((message) => [`${message.source}-${message.target}`, message]));
  return [...pairs.values()].map((message) => wayOf(place, message));
}

const AT_ONCE = 1e-9;
const TOGETHER = 0.016; // of the whole: a round that began so lately is shown by the one before it, arrived
const roundsDone = (course, at) => course.rounds.filter((round) => round.start + round.latency + round.bandwidth <= at + AT_ONCE).length;

// The messages under way; where a round has just ended, that round's, arrived.
function messagesOf(course, done, at) {
  const under = course.rounds[done];
  const ended = course.rounds[done - 1];
  const share = (part, whole) => (whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 1);
  if (under && at - under.start > (done && at < 1 ? TOGETHER : AT_ONCE)) {
    const [crossed, filled] = [share(at - under.start, under.latency), share(at - under.start - under.latency, under.bandwidth)];
    return under.messages.map((message) => ({ message, crossed, filled: crossed < 1 ? 0 : filled }));
  }
  return ended && done < course.rounds.length + (at < 1) ? ended.messages.map((message) => ({ message, crossed: 1, filled: 1 })) : [];
}

// One row a course on one axis of time: violet while something crosses, moss while bytes pour.
function drawWatch(model, layout, style, at) {
  const { size, x, rows, bottom } = layout;
  const parts = [drawKey(layout, style)];
  model.courses.forEach((course, i) => parts.push(drawRow(course, layout, style, at, rows + i * size.row)));
  for (const tick of model.ticks) {
    parts.push(stroke({ x: x(tick.at), y: bottom }, { x: x(tick.at), y: bottom + 5 }, style.axis, 1));
    parts.push(text(x(tick.at), bottom + size.axis * 1.5, tick.text, { size: size.axis, fill: style.muted, anchor: tick.at === 0 ? 'start' : 'middle' }));
  }
  parts.push(stroke({ x: x(0), y: bottom }, { x: x(1), y: bottom }, style.axis, 1));
  const head = size.word * 0.45;
  parts.push(`<path d="M${fixed(x(at) - head)} ${fixed(rows - head * 1.2)}h${fixed(2 * head)}l${fixed(-head)} ${fixed(head * 1.2)}z" fill="${style.text}"/>`);
  parts.push(stroke({ x: x(at), y: rows }, { x: x(at), y: bottom }, style.text, size.line * 1.6));
  return parts.join('');
}

function drawKey(layout, style) {
  const { size, top, left } = layout;
  const entry = (shift, name, fill, ink) => rect(left + shift, top - size.word * 0.8, size.word * 0.8, size.word * 0.8, { fill }) + text(left + shift + size.word * 1.2, top, name, { size: size.word, weight: 600, fill: ink });
  return entry(0, 'latency', style.latency, style.latencyText) + entry(size.word * 6, 'bandwidth', style.bandwidth, style.bandwidthText);
}

function drawRow(course, layout, style, at, top) {
  const { size, x, phone } = layout;
  const y = phone ? top + size.row - size.bar - 4 : top + (size.row - size.bar) / 2;
  const end = course.rounds.length ? course.end : 0;
  const said = phone
    ? [text(0, y - 5, course.title, { size: size.word, weight: 600, fill: style.text }), text(layout.width, y - 5, course.total, { size: size.word, weight: 600, fill: style.text, anchor: 'end' })]
    : [text(0, y + size.bar * 0.76, course.title, { size: size.word, weight: 600, fill: style.text }), text(x(end) + 8, y + size.bar * 0.76, course.total, { size: size.word, weight: 600, fill: style.text })];
  const launch = course.rounds.length ? [{ from: 0, to: course.rounds[0].start, fill: style.latency }] : [];
  const terms = course.rounds.flatMap((round) => [
    { from: round.start, to: round.start + round.latency, fill: style.latency, first: true },
    { from: round.start + round.latency, to: round.start + round.latency + round.bandwidth, fill: style.bandwidth },
  ]);
  const bars = [...launch, ...terms].filter((term) => term.to > term.from).map((term) => drawTerm(term, x, y, size.bar, at));
  return [...bars, ...said].join('');
}

function drawTerm({ from, to, fill, first }, x, y, height, at) {
  const gap = first && x(to) - x(from) > 4 && from > 0 ? 1.5 : 0;
  const [left, right] = [x(from) + gap, x(to)];
  const now = Math.min(right, Math.max(left, x(at)));
  return rect(left, y, now - left, height, { fill }) + rect(now, y, right - now, height, { fill, opacity: 0.28 });
}

// Colours as the page has them now; fills are mixed so that they read as the matrices' do.
function readStyle(figure) {
  const css = getComputedStyle(figure);
  const read = (name) => css.getPropertyValue(name).trim();
  const ground = read('--st-background-color');
  const dark = luminance(ground) < 0.2;
  const solids = read('--st-chart-categorical-colors').split(',').map((colour) => colour.trim());
  return {
    ground, solids, font: css.fontFamily, text: read('--st-text-color'), muted: read('--muted'), axis: read('--axis'), hairline: read('--st-border-color'),
    fills: solids.map((solid) => mix(solid, ground, dark ? 0.72 : 0.78)),
    latency: read('--latency'), latencyText: read('--latency-text'), bandwidth: read('--bandwidth'), bandwidthText: read('--bandwidth-text'),
  };
}

const channels = (colour) => (colour.startsWith('#') ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) : colour.match(/[\d.]+/g).slice(0, 3).map(Number));
const luminance = (colour) => channels(colour).reduce((sum, c, i) => sum + (c / 255) ** 2.2 * [0.2126, 0.7152, 0.0722][i], 0);
const mix = (top, below, share) => `rgb(${channels(top).map((c, i) => Math.round(c * share + channels(below)[i] * (1 - share))).join(',')})`;
