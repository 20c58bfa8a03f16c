// Where everything stands, in pixels. A board says what there is; nothing here changes a number or a word of it.

const SIZES = {
  laptop: { cw: 43, minCw: 37, ch: 29, text: 14.5, small: 13.5, gutter: 112, minGap: 7, head: 30, bar: 34, name: 16, code: 12.5, under: 20 },
  present: { cw: 92, minCw: 68, ch: 42, text: 28, small: 24, gutter: 250, minGap: 16, head: 44, bar: 52, name: 30, code: 24, under: 32 },
  long: { cw: 43, minCw: 37, ch: 26, text: 14, small: 13.5, gutter: 112, minGap: 7, head: 26, bar: 30, name: 16, code: 12.5, under: 19 },
  tall: { cw: 43, minCw: 37, ch: 22, text: 13.5, small: 13, gutter: 112, minGap: 7, head: 24, bar: 27, name: 15.5, code: 12.5, under: 18, spread: 0.56 },
  presentLong: { cw: 92, minCw: 68, ch: 36, text: 26, small: 24, gutter: 330, minGap: 16, head: 40, bar: 46, name: 28, code: 24, under: 30, oneLine: true },
  presentTight: { cw: 92, minCw: 64, ch: 29, text: 24, small: 24, gutter: 330, minGap: 16, head: 34, bar: 38, name: 26, code: 24, under: 28, oneLine: true, spread: 0.4 },
  presentTighter: { cw: 92, minCw: 64, ch: 26, text: 24, small: 24, gutter: 330, minGap: 16, head: 28, bar: 32, name: 26, code: 24, under: 26, oneLine: true, spread: 0.14 },
  presentTightest: { cw: 92, minCw: 64, ch: 23, text: 24, small: 24, gutter: 330, minGap: 16, head: 26, bar: 28, name: 26, code: 24, under: 26, oneLine: true, spread: 0.08 },
  presentStill: { cw: 92, minCw: 56, ch: 38, text: 26, small: 24, gutter: 215, minGap: 16, head: 42, bar: 48, name: 28, code: 24, under: 30, nameOnly: true, spread: 0.62 },
  presentStillTight: { cw: 92, minCw: 56, ch: 26, text: 24, small: 24, gutter: 215, minGap: 16, head: 34, bar: 32, name: 26, code: 24, under: 26, nameOnly: true, spread: 0.17 },
  presentPair: { cw: 92, minCw: 54, ch: 31, text: 24, small: 24, gutter: 128, minGap: 9, head: 36, bar: 36, name: 24, code: 24, under: 28, nameOnly: true, spread: 0.3 },
  presentPairTight: { cw: 92, minCw: 54, ch: 27, text: 24, small: 24, gutter: 128, minGap: 9, head: 34, bar: 32, name: 24, code: 24, under: 27, nameOnly: true, spread: 0.2 },
  presentPairTightest: { cw: 92, minCw: 54, ch: 24, text: 24, small: 24, gutter: 128, minGap: 9, head: 28, bar: 27, name: 24, code: 24, under: 26, nameOnly: true, spread: 0.06 },
  phone: { cw: 44, minCw: 38, ch: 30, touch: 44, text: 15, small: 14, gutter: 0, minGap: 3, head: 34, bar: 46, name: 16, code: 13.5, under: 21 },
};
SIZES.presentBeside = { ...SIZES.presentTightest, denseBeside: true }; // the dense result in a column of its own
const GAPS = { first: 0, line: 31, arrow: 44, bar: 41, result: 52, dense: 26, none: 26 };
const LABEL_ABOVE = 22;
const LOW_WALL = 900, SHARES = { beside: 0.54, alone: 0.62, underControls: 0.54 }; // of a wall's height
const TALLEST = 620; // of a figure on a laptop, so that its controls stand above the fold

// The sizes to try, best first. A longer story is drawn smaller; on a projector with a row's name and shape on one line.
function sizesFor(board, width, present, unnamed) {
  if (present && width > 1000) {
    const first = isLong(board) ? SIZES.presentLong : SIZES.present;
    const all = [first, SIZES.presentTight, SIZES.presentTighter, SIZES.presentTightest, SIZES.presentBeside];
    return all.filter(({ denseBeside }) => !denseBeside || board.rows.some(isDense));
  }
  if (present && width > 700) return [SIZES.presentStill, SIZES.presentStillTight];
  if (present) return [SIZES.presentPair, SIZES.presentPairTight, SIZES.presentPairTightest].map((size) => (unnamed ? { ...size, gutter: 0, unnamed } : size));
  if (width < 480) return [SIZES.phone];
  return [isLong(board) ? SIZES.long : SIZES.laptop, SIZES.tall];
}

function isLong(board) {
  return board.rows.length > 6;
}

function widestBlock(board) {
  const widths = board.rows.filter(isTensor).flatMap((row) => row.blocks.filter((b) => b.rank !== null).map((b) => b.cells[0].length));
  return Math.max(...widths);
}

function isTensor(row) {
  return row.kind === 'tensor';
}

function isDense(row) {
  return row.key === 'dense';
}

const columnsOf = (board, size) => board.num_ranks + (size.denseBeside ? 1 : 0);

function leastWidth(board, size) {
  const columns = columnsOf(board, size);
  return size.gutter + columns * widestBlock(board) * size.minCw + (columns - 1) * size.minGap;
}

// The first view that fits, and on a projector leaves room below; or the last one, in a box that scrolls sideways.
function fittingView(views, width, present, played, unnamed) {
  const fits = ({ board }) => leastWidth(board, sizesFor(board, width, present, unnamed)[0]) <= width;
  return views.find((view) => fits(view) && isLow(layOut(view.board, width, present, played, unnamed), present, played)) ?? views[views.length - 1];
}

// A narrow figure on a projector stands beside another, over a reading; one that is played, on a low one, with what is asked.
function isLow(plan, present, played) {
  if (!present) return plan.height <= TALLEST;
  const stands = plan.width <= 1000 ? 'beside' : played && wallHeight() < LOW_WALL ? 'underControls' : 'alone';
  return plan.height <= wallHeight() * SHARES[stands];
}

function layOut(board, available, present, played, unnamed) {
  const plans = sizesFor(board, available, present, unnamed).map((size) => layOutAt(board, available, present, size))
    .filter((plan) => !plan.size.denseBeside || board.rows.every((row) => row.kind !== 'bar' || barWidth(row, plan.size) <= plan.field - 12));
  return plans.find((plan) => isLow(plan, present, played)) ?? plans[plans.length - 1];
}

function layOutAt(board, available, present, size) {
  const width = Math.max(available, leastWidth(board, size));
  const field = width - size.gutter;
  const wholeWidest = Math.max(...board.rows.filter(isTensor).map((row) => row.whole_cells[1]));
  const columns = columnsOf(board, size), column = (rank) => size.gutter + ((rank + 0.5) * field) / columns;
  const perRank = (field - (columns - 1) * size.minGap) / (columns * widestBlock(board));
  const cw = Math.min(size.cw, perRank, (field - 4) / wholeWidest);
  const spread = spreadOf(board, size, present);
  const whole = stack(board.rows.filter((row) => row.steps.includes(0)), size, spread, true, 2);
  const cut = stack(board.rows, size, spread, false, size.head);
  lower(whole, (cut.height - whole.height) * 0.35);
  return {
    size, width, cw, ch: size.ch, left: size.gutter, field: (field * board.num_ranks) / columns,
    height: Math.max(whole.height, cut.height),
    centre: size.gutter + field / 2,
    column,
    dense: size.denseBeside ? column(board.num_ranks) : size.gutter + field / 2,
    rowAt: (row, isWhole) => (isWhole && whole.tops.has(row.key) ? whole.tops : cut.tops).get(row.key),
  };
}

// A longer story stands closer together, and so does one whose labels stand between the rows.
function spreadOf(board, size, present) {
  if (size.spread) return size.spread;
  return (isLong(board) ? 0.62 : 1) * (present && !isLong(board) ? 0.85 : 1) * (size.gutter ? 1 : 0.6);
}

// The whole is shorter than its parts: it stands a little below the top, and the cut lifts it.
function lower(stacked, by) {
  if (by > 0) stacked.tops.forEach((top) => { top.y += by; });
}

// Rows without a gutter have their labels above them, but not where their names stand beside another board of the same rows.
const hasLabelsAbove = (size) => !size.gutter && !size.unnamed;

// What labels take between two rows where they stand above them.
function labelRoom(plan) {
  return hasLabelsAbove(plan.size) ? LABEL_ABOVE - 4 : 0;
}

function stack(rows, size, spread, isWhole, first) {
  const tops = new Map();
  const labels = hasLabelsAbove(size) ? LABEL_ABOVE : 0;
  let y = first;
  let previous = null;
  for (const row of rows) {
    if (isDense(row) && size.denseBeside && !isWhole) {
      const top = { y: tops.get(previous.key).y, h: rowHeight(row, size, isWhole) };
      tops.set(row.key, top);
      y = Math.max(y, top.y + top.h + underHeight(row, size));
      continue;
    }
    y += gapBefore(row, previous, isWhole, size) * spread + (row.kind === 'bar' ? 0 : labels);
    tops.set(row.key, { y, h: rowHeight(row, size, isWhole) });
    y += tops.get(row.key).h + underHeight(row, size);
    previous = row;
  }
  return { tops, height: Math.max(y + 4, labelFoot(tops.get(previous?.key), size)) };
}

// Where a row's shape ends, on a line of its own under the name.
function labelFoot(top, size) {
  const twoLines = top && size.gutter && !size.oneLine && !size.nameOnly;
  return twoLines ? top.y + Math.min(top.h, 3 * size.ch) / 2 + 1.7 * size.code : 0;
}

function gapBefore(row, previous, isWhole, size) {
  if (!previous) return GAPS.first;
  if (isWhole) return isDense(row) ? GAPS.arrow : GAPS.line;
  if (isDense(row)) return GAPS.dense * (size.text / 14.5) ** 0.5;
  if (row.kind === 'bar') return row.sent ? GAPS.bar : GAPS.none;
  if (previous.kind === 'bar') return previous.sent ? GAPS.result : GAPS.none;
  return GAPS[row.link] || GAPS.none;
}

function rowHeight(row, size, isWhole) {
  if (row.kind === 'bar') return size.bar;
  const cells = isWhole ? row.whole_cells[0] : Math.max(...row.blocks.map((block) => block.cells.length));
  return cells * size.ch;
}

function underHeight(row, size) {
  return isTensor(row) && row.blocks.some((block) => block.under.length) ? size.under : 0;
}

// Where a block stands: side by side in the whole, or in the column of its rank.
function blockAt(row, block, plan, isWhole) {
  const top = plan.rowAt(row, isWhole);
  const [rows, columns] = [block.cells.length, block.cells[0].length];
  if (isWhole || block.rank === null) {
    const total = isDense(row) ? columns : row.whole_cells[1];
    return { x: (isWhole ? plan.centre : plan.dense) - (total * plan.cw) / 2 + block.left * plan.cw, y: top.y + block.top * plan.ch };
  }
  return { x: plan.column(block.rank) - (columns * plan.cw) / 2, y: top.y + (top.h - rows * plan.ch) / 2 };
}
