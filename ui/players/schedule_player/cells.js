// The payload and what stands in it: cells of int16, -1 idle, else 4096·chunk + 1024·kind + microbatch.

const KINDS = ['F', 'B', 'I', 'W'];
const microbatchOf = (code) => code & 1023;
const kindOf = (code) => KINDS[(code >> 10) & 3];
const chunkOf = (code) => code >> 12;

function parsePayload(bytes) {
  const own = bytes.slice(); // own buffer, so that int16 views are aligned
  const headBytes = new DataView(own.buffer).getUint32(0, true);
  const model = JSON.parse(new TextDecoder().decode(own.subarray(4, 4 + headBytes)));
  let offset = 4 + headBytes;
  for (const grid of model.grids) {
    grid.perUnit = model.ticksPerUnit;
    grid.cells = new Int16Array(own.buffer, offset, grid.ranks * grid.ticks);
    offset += 2 * grid.cells.length;
  }
  return model;
}

// Of several the grids that the page's controls have open: by each control's place among its options, as it is told in
// the page or else as the server has it.
function turnedTo(model, told) {
  const places = Object.entries(model.turns).map(([key, [at, of]]) => [Math.min(told[key] ?? at, of - 1), of]);
  const first = model.beside * places.reduce((before, [at, of]) => before * of + at, 0);
  return measured({ ...model, grids: model.runs.slice(first, first + model.beside) });
}

function measured(model) {
  model.ticks = Math.max(...model.grids.map((grid) => grid.ticks));
  model.narrowest = Math.min(...model.grids.map(narrowestSpan));
  model.mostHeld = Math.max(0, ...model.grids.flatMap((grid) => grid.held.flat().map(([, value]) => value)));
  model.microbatches = 1 + Math.max(0, ...model.grids.map((grid) => grid.cells.reduce((most, code) => (code < 0 ? most : Math.max(most, microbatchOf(code))), 0)));
  model.trains = model.grids.some((grid) => grid.cells.some((code) => code >= 1024));
  return model;
}

// Calls visit(rank, start, end, code) for every action, its cells joined. Idle comes in cells of a unit, or less.
function eachSpan(grid, visit) {
  for (let rank = 0; rank < grid.ranks; rank++) {
    const row = rank * grid.ticks;
    for (let start = 0, end; start < grid.ticks; start = end) {
      const code = grid.cells[row + start];
      for (end = start + 1; end < grid.ticks && grid.cells[row + end] === code && (code >= 0 || end % grid.perUnit); end++);
      visit(rank, start, end, code);
    }
  }
}

// Ticks of the shortest action: what decides whether numbers fit.
function narrowestSpan(grid) {
  let narrowest = grid.ticks;
  eachSpan(grid, (rank, start, end, code) => {
    if (code >= 0) narrowest = Math.min(narrowest, end - start);
  });
  return narrowest;
}

function spansOf(grid, microbatch) {
  const found = [];
  eachSpan(grid, (rank, start, end, code) => {
    if (code >= 0 && microbatchOf(code) === microbatch) found.push({ rank, start, end, code });
  });
  return found;
}

function spanAt(grid, rank, tick) {
  const row = rank * grid.ticks;
  const code = grid.cells[row + tick];
  let [start, end] = [tick, tick + 1];
  while (start > 0 && grid.cells[row + start - 1] === code) start--;
  while (end < grid.ticks && grid.cells[row + end] === code) end++;
  return code < 0 ? null : { rank, start, end, code };
}

// What a rank holds at a tick.
function heldAt(levels, tick) {
  let held = 0;
  for (const [from, value] of levels) {
    if (from > tick) break;
    held = value;
  }
  return held;
}

// How many cells are idle, in units of time, of how many.
function idleOf(grid) {
  return { idle: grid.cells.filter((code) => code < 0).length / grid.perUnit, all: grid.cells.length / grid.perUnit };
}
