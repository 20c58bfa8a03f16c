// The drawing: the same strokes for the sheets on screen and for the saved figure.

const PAD = 10; // room beside the grid for the flag of the playhead
const hatchOf = ({ size }) => ({ tile: size.hatch, line: size.line * 0.87 });
const fillOf = (style, rank, chunk) => (chunk % 2 ? mix(style.fill(rank), style.ground, 0.5) : style.fill(rank));

function paintGutter(pen, model, layout, style) {
  const { size } = layout;
  pen.text(0, size.top - 10, model.words.axis, { fill: style.muted, size: size.axis });
  model.grids.forEach((grid, index) => {
    const every = Math.ceil((size.label * 1.15) / layout.pitch);
    grid.labels.forEach((label, rank) => {
      if (rank % every) return;
      const middle = layout.y(index, rank) + layout.row / 2;
      const key = Math.min(size.key, layout.pitch * every - 3);
      pen.rect(1, middle - key / 2, key, key, { fill: style.solid(rank), stroke: style.text, line: size.line });
      pen.text(size.key + size.label * 0.55, middle + size.label * 0.35, label, { fill: style.text, size: size.label });
    });
  });
}

// The ticks over the grid, and over each grid its title.
function paintHeads(pen, model, layout, style) {
  const step = axisStep(layout, model.ticks, model.ticksPerUnit);
  for (let tick = 0; tick < model.ticks; tick += step)
    pen.text(layout.x(tick + Math.min(1, model.ticksPerUnit) / 2), layout.size.top - 10, String(tick / model.ticksPerUnit), { fill: style.muted, size: layout.size.axis, anchor: 'middle' });
  model.grids.forEach((grid, index) => {
    if (grid.title) pen.text(0, layout.tops[index] - layout.size.label * 0.6, grid.title, { fill: style.text, size: layout.size.label, weight: 600 });
  });
}

function paintSpan(pen, model, layout, style, index, span, look) {
  const x = layout.x(span.start), y = layout.y(index, span.rank);
  const w = layout.x(span.end) - x, h = layout.row;
  if (span.code < 0) return pen.rect(x + 1, y + 1, w - 2, h - 2, { fill: 'idle' });
  const line = look.done ? layout.size.line : 0.8;
  const inset = 1 + line / 2;
  const kind = kindOf(span.code);
  const fill = !look.done ? style.ground : kind === 'W' ? style.compute : fillOf(style, span.rank, chunkOf(span.code));
  const box = [x + inset, y + inset, w - 2 * inset, h - 2 * inset];
  pen.rect(...box, { fill, radius: 2 });
  if (look.done && (kind === 'B' || kind === 'I')) pen.rect(x + inset, y + h * 0.8, w - 2 * inset, h * 0.2 - inset, { fill: style.solid(span.rank) });
  pen.rect(...box, { stroke: look.done ? style.edge(span.rank) : style.axis, line, radius: 2 });
  paintNumber(pen, model, layout, style, span, look, x + w / 2, y + h / 2);
}

// Actions of one length are numbered alike, or not at all: the widest number decides.
function paintNumber(pen, model, layout, style, span, look, x, y) {
  const width = layout.cell * (span.end - span.start);
  const kind = model.trains && width > layout.size.text * 2 ? kindOf(span.code) : '';
  const widest = kind.length + String(model.microbatches - 1).length;
  const size = Math.min(layout.size.text, (width - 4) / (0.56 * widest), layout.row * 0.78);
  if (size < layout.size.words) return;
  const fill = look.done || look.followed ? style.text : style.muted;
  pen.text(x, y + size * 0.36, kind + microbatchOf(span.code), { fill, size, weight: look.followed ? 700 : model.present ? 500 : 400, anchor: 'middle' });
}

// The microbatch's own cells: up to the chosen one the path it depends on, with a heavy ring; beyond, a thin one.
function paintFollowed(pen, model, layout, style, index, spans, tick, upTo) {
  for (const span of spans) {
    const line = span.end > upTo ? 1.5 : model.present ? 5 : 3.5;
    const x = layout.x(span.start), y = layout.y(index, span.rank), w = layout.x(span.end) - x;
    if (layout.small) pen.rect(x - 0.5, y, Math.max(w, 2) + 1, layout.row, { fill: w < 6 ? style.text : undefined, stroke: style.text, line: 1.5 });
    else {
      paintSpan(pen, model, layout, style, index, span, { done: span.end <= tick, followed: true });
      pen.rect(x + 0.6 + line / 2, y + 0.6 + line / 2, w - 1.2 - line, layout.row - 1.2 - line, { stroke: style.text, line, radius: 2 });
    }
  }
}

function paintMarks(pen, model, layout, style) {
  model.grids.forEach((grid, index) => {
    for (const [place, [rank, tick]] of grid.wrong.entries()) {
      const [x, y] = [layout.x(tick), layout.y(index, rank)];
      const heavy = place ? {} : layout.small ? { fill: style.off } : { line: model.present ? 7 : 5 }; // the first is named in words
      pen.rect(x + 1.5, y + 1.5, Math.max(layout.cell - 3, 1), layout.row - 3, { stroke: style.off, line: layout.small ? 1.5 : 2.5, radius: 2, ...heavy });
      if (!layout.small && layout.cell >= 40) paintCross(pen, style.off, x + layout.cell - 11, y + 10, 4);
    }
    for (const mark of grid.marks) if (!isListed(mark, layout)) paintNote(pen, model, layout, style, mark, layout.x(mark.tick), layout.y(index, mark.rank));
  });
}

// A sentence beside a row would lie out of sight on a phone: there it is listed under the figure.
const isSentence = (mark) => mark.kind === 'sentence';
const isListed = (mark, layout) => isSentence(mark) && layout.isPhone;

function paintCross(pen, fill, x, y, r) {
  const t = r * 0.45;
  pen.shape([[x - r, y - r + t], [x - r + t, y - r], [x + r, y + r - t], [x + r - t, y + r]], fill);
  pen.shape([[x + r, y - r + t], [x + r - t, y - r], [x - r, y + r - t], [x - r + t, y + r]], fill);
}

function paintNote(pen, model, layout, style, mark, x, y) {
  const size = model.present ? 32 : 15;
  const [w, h] = [mark.text.length * size * 0.5 + size * 1.5, isSentence(mark) ? Math.min(size * 1.9, layout.row - 6) : size * 1.9];
  const left = Math.max(0, Math.min(x - w / 2, layout.width - w));
  pen.rect(left, y - h / 2, w, h, { fill: style.ground, stroke: style.text, line: model.present ? 2.5 : 1.5, radius: 4 });
  pen.text(left + w / 2, y + size * 0.35, mark.text, { fill: style.text, size, weight: 600, anchor: 'middle' });
}

// The line through a path's stops: along each, and down to the next.
function paintPath(pen, model, layout, style) {
  model.grids.forEach((grid, index) => {
    const points = grid.path.flatMap((stop) => [stop.start, stop.end].map((tick) => [layout.x(tick), layout.y(index, stop.rank) + layout.row * 0.16]));
    for (const [line, stroke] of [[layout.size.line * 4.5, style.ground], [layout.size.line * 2, style.text]]) pen.line(points, { stroke, line });
  });
}

// Every idle cell outlined, once it has been asked for.
function paintIdle(pen, model, layout, style) {
  model.grids.forEach((grid, index) => eachSpan(grid, (rank, start, end, code) => {
    if (code < 0) pen.rect(layout.x(start) + 1.5, layout.y(index, rank) + 1.5, layout.x(end) - layout.x(start) - 3, layout.row - 3, { stroke: style.text, line: layout.size.line });
  }));
}

function paintPlayhead(pen, layout, style, tick) {
  const x = layout.x(tick), top = layout.size.top - 10, flag = layout.size.text * 0.53;
  pen.rect(x - 1.25, top + 4, 2.5, layout.bottom + 8 - top - 4, { fill: style.text });
  pen.shape([[x - flag, top], [x + flag, top], [x, top + flag * 1.4]], style.text);
}

// Every cell at its full size, as done or as to come.
function paintCells(pen, model, layout, style, isDone) {
  model.grids.forEach((grid, index) => eachSpan(grid, (rank, start, end, code) =>
    paintSpan(pen, model, layout, style, index, { rank, start, end, code }, { done: isDone(end) })));
}

// Cells too small for outlines: one pixel each on an image of the grid, stretched over the hatch.
function paintSmallCells(context, pen, model, layout, style, strength) {
  model.grids.forEach((grid, index) => {
    const [y, height] = [layout.y(index, 0), grid.ranks * layout.pitch];
    const pixels = pixelsOf(grid, style, strength);
    context.imageSmoothingEnabled = false;
    if (!layout.strip) {
      pen.rect(0, y, layout.x(grid.ticks), height, { fill: 'idle' });
      context.drawImage(pixels, 0, y, layout.x(grid.ticks), height);
    } else for (let rank = 0; rank < grid.ranks; rank++) {
      pen.rect(0, layout.y(index, rank), layout.x(grid.ticks), layout.row, { fill: 'idle' });
      context.drawImage(pixels, 0, rank, grid.ticks, 1, 0, layout.y(index, rank), layout.x(grid.ticks), layout.row);
    }
    const gap = { fill: style.ground };
    if (layout.row >= 6) for (let rank = 1; rank < grid.ranks; rank++) pen.rect(0, layout.y(index, rank) - 0.5, layout.x(grid.ticks), 1, gap);
    if (layout.cell >= 6 && model.narrowest === 1) for (let tick = 1; tick < grid.ticks; tick++) pen.rect(layout.x(tick) - 0.5, y, 1, height, gap);
  });
}

function pixelsOf(grid, style, strength) {
  const canvas = Object.assign(document.createElement('canvas'), { width: grid.ticks, height: grid.ranks });
  const context = canvas.getContext('2d');
  const image = context.createImageData(grid.ticks, grid.ranks);
  const words = new Uint32Array(image.data.buffer);
  const word = (colour, share) => {
    const [r, g, b] = channels(mix(colour, style.ground, share));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  };
  const tones = Array.from({ length: grid.ranks }, (_, rank) => {
    const [fill, solid] = [style.fill(rank), style.solid(rank)];
    return [fill, mix(solid, fill, 0.5), solid, style.compute].map((colour) => word(colour, strength));
  });
  grid.cells.forEach((code, i) => {
    if (code >= 0) words[i] = tones[Math.floor(i / grid.ticks)][(code >> 10) & 3];
  });
  context.putImageData(image, 0, 0);
  return canvas;
}

// What each rank holds, as a strip under its row: filled where it is done, empty where it is to come.
function paintHeld(pen, model, layout, style, from, to, done) {
  if (!layout.strip || from >= to) return;
  const tall = (layout.strip - 3) / model.mostHeld;
  model.grids.forEach((grid, index) => grid.held.forEach((levels, rank) => {
    const base = layout.y(index, rank) + layout.pitch - 1;
    let height = heldAt(levels, from);
    const edge = [[layout.x(from), base - height * tall]];
    for (const [tick, value] of levels.filter(([moment]) => moment > from && moment < to)) {
      edge.push([layout.x(tick), base - height * tall], [layout.x(tick), base - value * tall]);
      height = value;
    }
    edge.push([layout.x(to), base - height * tall]);
    if (done) pen.shape([[layout.x(from), base], ...edge, [layout.x(to), base]], style.fill(rank));
    pen.line(edge, { stroke: done ? style.edge(rank) : style.axis, line: 1 });
  }));
}

// The numbers of it beside the playhead, where they fit.
function paintHeldNumbers(pen, model, layout, style, tick) {
  const size = Math.min(layout.size.axis, layout.strip - 2);
  if (size < (model.present ? 24 : 10)) return;
  const [x, anchor] = tick * layout.cell > 2 * size ? [layout.x(tick) - 5, 'end'] : [layout.x(tick) + 5, 'start'];
  model.grids.forEach((grid, index) => grid.held.forEach((levels, rank) =>
    pen.text(x, layout.y(index, rank) + layout.pitch - 3, String(heldAt(levels, tick)), { fill: style.text, size, weight: 600, anchor })));
}

// Two sheets of the whole grid, done and to come. A frame lays a part of each side by side.
function makeSheets(model, layout, style) {
  return ['done', 'todo'].map((state) => {
    const sheet = sizedCanvas(document.createElement('canvas'), layout.width + 2 * PAD, layout.height);
    const context = sheet.getContext('2d');
    context.translate(PAD, 0);
    const pen = canvasPen(context, style, hatchOf(layout));
    paintHeads(pen, model, layout, style);
    if (layout.small) paintSmallCells(context, pen, model, layout, style, state === 'done' ? 1 : (style.dark ? 0.5 : 0.35));
    else paintCells(pen, model, layout, style, () => state === 'done');
    paintHeld(pen, model, layout, style, 0, model.ticks, state === 'done');
    return sheet;
  });
}

function drawFrame(canvas, sheets, model, layout, style, view) {
  const context = canvas.getContext('2d');
  const scale = sharpness();
  const cut = Math.round((PAD + layout.x(view.tick)) * scale);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  const [done, todo] = sheets;
  if (cut > 0) context.drawImage(done, 0, 0, cut, done.height, 0, 0, cut, done.height);
  if (cut < todo.width) context.drawImage(todo, cut, 0, todo.width - cut, todo.height, cut, 0, todo.width - cut, todo.height);
  context.setTransform(scale, 0, 0, scale, PAD * scale, 0);
  paintOver(canvasPen(context, style, hatchOf(layout)), model, layout, style, view);
}

// What lies over the cells: `view` has the tick, the spans followed in each grid, and whether idle is counted.
function paintOver(pen, model, layout, style, { tick, followed, upTo, countsIdle }) {
  followed.forEach((spans, index) => paintFollowed(pen, model, layout, style, index, spans, tick, upTo));
  if (countsIdle) paintIdle(pen, model, layout, style);
  paintPath(pen, model, layout, style);
  paintMarks(pen, model, layout, style);
  paintHeldNumbers(pen, model, layout, style, tick);
  if (model.controls || tick < model.ticks) paintPlayhead(pen, layout, style, tick);
}

// The figure as it stands, as SVG; null where its cells are too small to be drawn one by one.
function figureAsSvg(model, layout, style, view) {
  if (layout.small) return null;
  const pen = svgPen(style, hatchOf(layout));
  paintGutter(pen, model, layout, style);
  pen.group(layout.size.gutter, 0);
  paintHeads(pen, model, layout, style);
  paintCells(pen, model, layout, style, (end) => end <= view.tick);
  paintHeld(pen, model, layout, style, 0, view.tick, true);
  paintHeld(pen, model, layout, style, view.tick, model.ticks, false);
  paintOver(pen, model, layout, style, view);
  pen.endGroup();
  return pen.document(Math.ceil(layout.size.gutter + layout.width + PAD), layout.height);
}
