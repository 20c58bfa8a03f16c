// Where everything stands, in CSS pixels. One place decides sizes; drawing only reads them.

const SIZES = {
  laptop: { gutter: 125, cell: 46, row: 40, rows: 384, axis: 13, label: 15, text: 15, words: 9, key: 13, hatch: 10, line: 1.5, least: 14, top: 22 },
  present: { gutter: 156, cell: 70, row: 62, axis: 24, label: 28, text: 28, words: 24, key: 22, hatch: 16, line: 2, least: 24, top: 44 },
  phone: { gutter: 82, cell: 46, row: 36, rows: 320, axis: 14, label: 15, text: 15, words: 9, key: 12, hatch: 10, line: 1.5, least: 14, top: 24 },
};
const GAP = 18; // after the longest name: a canvas ends sooner than the gutter
const SCROLL_BELOW = 22;
const SCROLL_CELL = 34;
const SCROLL_LIMIT = 48;
const LOW = 900, UNCONTROLLED = 52; // a wall lower than this; what its rows may take more of where there is nothing to press

// `wide` tells how wide words are in a size: the gutter is as wide as its longest name, and no less than in English.
function layOut(model, width, wide) {
  const base = SIZES[model.present ? 'present' : width < 600 ? 'phone' : 'laptop'];
  const names = model.grids.flatMap((grid) => grid.labels).map((label) => base.key + base.label * 0.55 + wide(label, base.label));
  const size = { ...base, gutter: Math.ceil(Math.max(base.gutter, ...names.map((name) => name + GAP), wide(model.words.axis, base.axis) + GAP)) };
  const room = width - size.gutter;
  const fit = Math.min(room / Math.max(model.ticks, model.span), size.cell);
  const isPhone = base === SIZES.phone;
  const scrolls = isPhone && fit < SCROLL_BELOW && model.ticks <= SCROLL_LIMIT;
  const cell = scrolls ? SCROLL_CELL : fit;
  const titled = model.grids.some((grid) => grid.title);
  const ranks = model.grids.reduce((sum, grid) => sum + grid.ranks, 0);
  const tallest = (cell * model.narrowest < 24 ? size.row * 0.75 : size.row) * (model.present && model.controls ? 0.9 : 1);
  const strip = model.mostHeld ? 0.36 : 0; // of a row's pitch; on a projector there is no room to add it to
  const isLow = model.present && wallHeight() < LOW;
  const free = isLow && !model.controls ? UNCONTROLLED : 0;
  const rows = model.present ? (titled ? 0.82 : 1) * onWall() + free : size.rows * (strip ? 1.15 : 1);
  const pitch = Math.max(4, Math.floor(Math.min(rows / ranks, tallest / (model.present ? 1 : 1 - strip))));
  const row = Math.max(4, Math.round(pitch * (1 - strip)));
  const titleHeight = titled ? size.label * (isLow ? 1.5 : 2) : 0;
  const titles = model.grids.map(({ title }) => Math.min(room, (title ?? '').length * size.label * 0.56));
  const tops = [];
  let y = size.top;
  for (const grid of model.grids) {
    tops.push((y += titleHeight));
    y += grid.ranks * pitch + (titled ? size.label * 0.6 : 0);
  }
  return {
    size, cell, row, pitch, strip: pitch - row, tops, scrolls, isPhone, bottom: y, height: y + 9, width: Math.max(cell * model.ticks, ...titles),
    small: cell * model.narrowest < size.least || row < size.least,
    x: (tick) => Math.round(tick * cell),
    y: (index, rank) => tops[index] + rank * pitch,
  };
}

// What the rows may take on a wall: 510 px of 1080, and of 720 what title, controls and foot leave.
function onWall() {
  return Math.max(200, Math.min(510, 0.72 * wallHeight() - 268));
}

// The grid, rank and tick under a point, or null.
function cellAt(model, layout, x, y) {
  const tick = Math.floor(x / layout.cell);
  for (const [index, grid] of model.grids.entries()) {
    const rank = Math.floor((y - layout.tops[index]) / layout.pitch);
    if (rank >= 0 && rank < grid.ranks && tick >= 0 && tick < grid.ticks) return { grid, index, rank, tick };
  }
  return null;
}

// Every how many ticks a number stands on the axis: 1, 2, 5, 10, 20 ... so that they keep clear of each other.
function axisStep(layout, ticks, ticksPerUnit) {
  const clear = layout.size.axis * (ticks > 999 ? 5 : 4.2);
  for (let step = 1; ; step *= 10) {
    for (const by of [1, 2, 5]) if (step * by * ticksPerUnit * layout.cell >= clear) return step * by * ticksPerUnit;
  }
}
