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

function fillBoard(board, player) {
  const { puzzle, chosen, words } = player;
  const { taken, refused, held } = walked(puzzle, chosen);
  const rows = [heldRow(player, words.begins, heldAt(puzzle.begins))];
  let ask = 0;
  puzzle.steps.forEach((step, i) => rows.push(stepRow(player, step, taken[i], step.options.length ? ask++ : null)));
  rows.push(heldRow(player, words.goal, puzzle.goal, refused === 'goal' ? words.kind_goal : '', held === puzzle.goal));
  board.replaceChildren(...rows);
}

function heldRow(player, name, held, refusal = '', reached = false) {
  const row = made('li');
  row.append(made('span', { className: 'name', textContent: name }), made('span', { className: reached ? 'reached' : 'refusal', textContent: refusal || (reached ? '✓' : '') }), picture(player, held), made('span'));
  return row;
}

function picture(player, held) {
  const { puzzle, theme, words, model } = player;
  const cell = made('span', { className: 'picture' });
  cell.innerHTML = rankBlocks(held, puzzle.ranks, theme, model.present ? 1.5 : 1);
  cell.append(made('span', { className: 'told', textContent: words[`kind_held_${held}`] }));
  return cell;
}

function stepRow(player, step, move, ask) {
  const { words } = player;
  const row = made('li');
  row.dataset.still = !move;
  row.dataset.off = Boolean(move && !move.after);
  row.append(made('span', { className: 'name', textContent: step.name }), ask === null ? made('span') : choices(player, step, ask));
  if (move && !move.after) row.append(made('span', { className: 'refusal', textContent: words[`kind_${move.refusal}`] }));
  else row.append(move ? picture(player, heldAt(move.after)) : made('span'));
  const cost = move?.hops ? `${written(move.traffic)}, ${filled(words.hops, move)}` : '';
  row.append(made('span', { className: 'cost', textContent: cost }));
  return row;
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
