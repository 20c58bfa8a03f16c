// The walk over a puzzle's steps with what is chosen so far, and the board that shows it.

// Every step that can be taken: its move, up to the first open choice, a refusal, or the end.
function walked(puzzle, chosen) {
  const taken = [];
  let [place, ask] = [puzzle.begins, 0];
  for (const step of puzzle.steps) {
    const choice = step.options.length ? chosen[ask++] : 0;
    if (choice === null || choice === undefined) return { taken, open: true };
    const move = step.moves[place][choice];
    taken.push(move);
    if (!move.after) return { taken, refused: move.refusal };
    place = move.after;
  }
  const held = heldAt(place);
  return { taken, held, refused: held === puzzle.goal ? '' : 'goal', done: held === puzzle.goal };
}

const heldAt = (place) => place.split('.')[0];
const total = (taken, what) => taken.reduce((sum, move) => sum + move[what], 0);

function written(bytes) {
  const number = new Intl.NumberFormat(document.documentElement.lang || 'en', { maximumSignificantDigits: 4 });
  return bytes >= 1024 ? `${number.format(bytes / 1024)} KiB` : `${number.format(bytes)} B`;
}

// The rows of a puzzle, built once: a choice that has the keyboard keeps it. What follows from the choices is set apart.
function buildBoard(board, player) {
  const { puzzle, words } = player;
  let ask = 0;
  const rows = puzzle.steps.map((step) => madeRow(step.name, step.options.length ? choices(player, step, ask++) : made('span')));
  board.replaceChildren(madeRow(words.begins, made('span')), ...rows, madeRow(words.goal, made('span')));
}

function madeRow(name, asked) {
  const row = made('li');
  row.append(made('span', { className: 'name', textContent: name }), asked, made('span'), made('span', { className: 'cost' }));
  return row;
}

function fillBoard(board, player) {
  const { puzzle, words, chosen } = player;
  const { taken, refused, held } = walked(puzzle, chosen);
  const rows = [...board.children];
  setOutcome(rows[0], picture(player, heldAt(puzzle.begins)));
  puzzle.steps.forEach((_, i) => fillRow(rows[i + 1], player, taken[i]));
  const last = rows.at(-1);
  setOutcome(last, picture(player, puzzle.goal));
  const off = refused === 'goal';
  last.children[1].replaceWith(made('span', { className: off ? 'refusal' : 'reached', textContent: off ? words.kind_goal : held === puzzle.goal ? '✓' : '' }));
}

const setOutcome = (row, outcome) => row.children[2].replaceWith(outcome);

function fillRow(row, player, move) {
  const { words } = player;
  const off = move && !move.after;
  row.dataset.still = !move;
  row.dataset.off = Boolean(off);
  setOutcome(row, off ? made('span', { className: 'refusal', textContent: words[`kind_${move.refusal}`] }) : move ? picture(player, heldAt(move.after)) : made('span'));
  row.children[3].textContent = move?.hops ? `${written(move.traffic)}, ${filled(words.hops, move)}` : '';
}

function picture(player, held) {
  const { puzzle, theme, words, model } = player;
  const cell = made('span', { className: 'picture' });
  cell.innerHTML = rankBlocks(held, puzzle.ranks, theme, model.present ? 1.5 : 1);
  cell.append(made('span', { className: 'told', textContent: words[`kind_held_${held}`] }));
  return cell;
}

function choices(player, step, ask) {
  const set = made('fieldset');
  set.append(made('legend', { textContent: step.name }));
  step.options.forEach(([, label], k) => {
    const choice = made('label');
    choice.append(made('input', { type: 'radio', name: `puzzle-${ask}`, checked: player.chosen[ask] === k, onchange: () => player.choose(ask, k) }), made('span', { textContent: label }));
    set.append(choice);
  });
  return set;
}
