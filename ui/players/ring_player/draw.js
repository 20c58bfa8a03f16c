// The figure at one moment: what each rank holds, what is under way, and the stopwatch. It reads, and computes no time.

function drawFigure(pen, model, layout, style, at) {
  model.courses.forEach((course, i) => drawCourse(pen, model, course, layout.courses[i], layout, style, at));
  drawWatch(pen, model, layout, style, at);
}

function drawCourse(pen, model, course, place, { size, width }, style, at) {
  const done = roundsDone(course, at);
  // the name of a round stands beside the slider too
  const name = course.names[done] ?? course.detail;
  const hasRoom = !course.names.length || place.left + name.length * size.word * 0.58 < width;
  pen.text(place.left, place.top + size.title, course.title, { size: size.title, weight: 600, fill: style.text });
  if (hasRoom) pen.text(place.left, place.top + size.title + size.word * 1.45, name, { size: size.word, fill: course.names.length ? style.text : style.muted, weight: course.names.length ? 600 : 400 });
  for (const way of tracksOf(course, place)) pen.line([way.start, way.at(1)], { stroke: style.hairline, line: size.line });
  for (const message of messagesOf(course, done, at)) drawMessage(pen, message, place, size, style, course);
  course.held[done].forEach((chunks, rank) => drawRank(pen, model, rank, chunks, course, place, size, style, course.numbers[done]?.[rank]));
}

// What a rank holds: a column a chunk, a row a rank whose part is in it. A full square is a finished sum.
function drawRank(pen, model, rank, chunks, course, place, size, style, numbers) {
  const { block } = place;
  const { x, y, side } = place.places[rank];
  const [left, top] = [x - block / 2, y - block / 2];
  const [cell, row] = [block / course.chunks, block / course.ranks];
  const whole = chunks.every((ranks) => ranks.length === course.ranks);
  pen.rect(left, top, block, block, { fill: style.ground });
  chunks.forEach((ranks, chunk) => ranks.forEach((part, i) => (numbers
    ? pen.rect(left + chunk * cell, top + (i * block) / ranks.length, cell, block / ranks.length, { fill: style.fill(part) })
    : pen.rect(left + chunk * cell, top + part * row, cell, row, { fill: partOf(style, part) }))));
  numbers?.forEach((number, chunk) => pen.text(left + (chunk + 0.5) * cell, y + size.word * 0.4, number, { size: size.word * 1.15, weight: chunks[chunk].length === course.ranks ? 700 : 400, fill: style.text, anchor: 'middle' }));
  if (cell > 5) for (let chunk = 1; chunk < course.chunks; chunk++) pen.line([[left + chunk * cell, top], [left + chunk * cell, top + block]], { stroke: style.ground, line: 1 });
  pen.rect(left, top, block, block, { stroke: whole ? style.text : style.axis, line: whole ? size.line * 2 : size.line, radius: 2 });
  const label = Math.abs(side) > 0.3
    ? { x: x + Math.sign(side) * (block / 2 + 7), y: y + size.word * 0.35, anchor: side > 0 ? 'start' : 'end' }
    : { x: left + block + 6, y: top + (y < place.places[Math.floor(course.ranks / 2)].y ? size.word : block - 2), anchor: 'start' };
  const words = rank === course.slow_rank ? filled(model.words.slow, { rank }) : `r${rank}`;
  pen.text(label.x, label.y, words, { size: size.word, fill: style.text, weight: whole ? 600 : 400, anchor: label.anchor });
}

// A part of a sum carries no number: stronger than the fills that matrices have.
const partOf = (style, rank) => mix(style.solid(rank), style.ground, style.dark ? 0.72 : 0.78);

// Latency: an empty envelope crosses. Bandwidth: it stands at the door and fills.
function drawMessage(pen, { message, crossed, full }, place, size, style, course) {
  const way = wayOf(place, message);
  const to = way.at(crossed);
  const colour = style.solid(message.source);
  const crowd = course.rounds[0].messages.length > 2 * course.ranks ? 0.6 : 1;
  const width = Math.max(7, (place.block * 0.5 * crowd * message.chunks) / course.chunks);
  const height = place.block * 0.22 * crowd;
  const box = [to[0] - width / 2, to[1] - height / 2, width, height];
  pen.line([way.start, to], { stroke: style.text, line: size.line * 2 });
  pen.line([way.start, to], { stroke: colour, line: size.line });
  pen.rect(...box, { fill: style.ground, stroke: style.text, line: size.line, radius: 2 });
  pen.rect(box[0], box[1], width * full, height, { fill: colour, radius: 2 });
  pen.rect(...box, { stroke: style.text, line: size.line, radius: 2 });
}

// Every way that some message of this course goes: its shape, before anything moves.
function tracksOf(course, place) {
  const pairs = new Map(course.rounds.flatMap((round) => round.messages).map((message) => [`${message.source}-${message.target}`, message]));
  return [...pairs.values()].map((message) => wayOf(place, message));
}

const TOGETHER = 0.016; // of the whole: a round that began so lately is shown by the one before it, arrived
const roundsDone = (course, at) => course.rounds.filter((round) => round.start + round.latency + round.bandwidth <= at + AT_ONCE).length;

// The messages under way; where a round has just ended, that round's, arrived.
function messagesOf(course, done, at) {
  const under = course.rounds[done];
  const ended = course.rounds[done - 1];
  const share = (part, whole) => (whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 1);
  if (under && at - under.start > (done && at < 1 ? TOGETHER : AT_ONCE)) {
    const [crossed, full] = [share(at - under.start, under.latency), share(at - under.start - under.latency, under.bandwidth)];
    return under.messages.map((message) => ({ message, crossed, full: crossed < 1 ? 0 : full }));
  }
  return ended && done < course.rounds.length + (at < 1) ? ended.messages.map((message) => ({ message, crossed: 1, full: 1 })) : [];
}

// One row a course on one axis of time: violet while something crosses, moss while bytes pour.
function drawWatch(pen, model, layout, style, at) {
  const { size, x, rows, bottom } = layout;
  drawKey(pen, model.words, layout, style);
  model.courses.forEach((course, i) => drawRow(pen, course, layout, style, at, rows + i * size.row));
  for (const tick of model.ticks) {
    pen.line([[x(tick.at), bottom], [x(tick.at), bottom + 5]], { stroke: style.axis, line: 1 });
    pen.text(x(tick.at), bottom + size.axis * 1.5, tick.text, { size: size.axis, fill: style.muted, anchor: tick.at === 0 ? 'start' : 'middle' });
  }
  pen.line([[x(0), bottom], [x(1), bottom]], { stroke: style.axis, line: 1 });
  const head = size.word * 0.45;
  pen.shape([[x(at) - head, rows - head * 1.2], [x(at) + head, rows - head * 1.2], [x(at), rows]], style.text);
  pen.line([[x(at), rows], [x(at), bottom]], { stroke: style.text, line: size.line * 1.6 });
}

function drawKey(pen, words, { size, top, left }, style) {
  for (const [shift, name] of [[0, 'latency'], [size.word * 6, 'bandwidth']]) {
    pen.rect(left + shift, top - size.word * 0.8, size.word * 0.8, size.word * 0.8, { fill: style[name] });
    pen.text(left + shift + size.word * 1.2, top, words[name], { size: size.word, weight: 600, fill: style[`${name}Text`] });
  }
}

function drawRow(pen, course, layout, style, at, top) {
  const { size, x, phone } = layout;
  const y = phone ? top + size.row - size.bar - 4 : top + (size.row - size.bar) / 2;
  const terms = course.rounds.flatMap((round) => [
    { from: round.start, to: round.start + round.latency, fill: style.latency, first: true },
    { from: round.start + round.latency, to: round.start + round.latency + round.bandwidth, fill: style.bandwidth },
  ]);
  const launch = { from: 0, to: course.rounds[0]?.start ?? 0, fill: style.latency };
  for (const term of [launch, ...terms]) if (term.to > term.from) drawTerm(pen, term, x, y, size.bar, at);
  const type = { size: size.word, weight: 600, fill: style.text };
  const base = phone ? y - 5 : y + size.bar * 0.76;
  pen.text(phone ? 6 : 0, base, course.title, type); // beside the line that stands at the beginning
  if (phone) pen.text(layout.width, base, course.total, { ...type, anchor: 'end' });
  else pen.text(x(course.rounds.length ? course.end : 0) + 8, base, course.total, type);
}

function drawTerm(pen, { from, to, fill, first }, x, y, height, at) {
  const gap = first && x(to) - x(from) > 4 && from > 0 ? 1.5 : 0;
  const [left, right] = [x(from) + gap, x(to)];
  const now = Math.min(right, Math.max(left, x(at)));
  pen.rect(left, y, now - left, height, { fill });
  pen.rect(now, y, right - now, height, { fill, opacity: 0.28 });
}
