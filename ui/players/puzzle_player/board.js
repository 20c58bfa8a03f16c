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
    if (!move.after) return { taken, place, refused: move.refusal };
    place = move.after;
  }
  const done = heldAt(place) === puzzle.goal;
  return { taken, place, refused: done ? '' : 'goal', done };
}

const heldAt = (place) => place.split('.')[0];
const why = ({ puzzle, words }, { refused, place }) => filled(words[`kind_${refused}`], { held: puzzle.told[place] });
const total = (taken, what) => taken.reduce((sum, move) => sum + move[what], 0);

function written(bytes) {
  const short = (number) => marked(Number(number.toPrecision(4)));
  return bytes >= 1024 ? `${short(bytes / 1024)} KiB` : `${short(bytes)} B`;
}

// A low wall has room for so many steps one under the other.
const MOST_IN_ONE_COLUMN = 5;

// The rows of a puzzle, built once: a choice that has the keyboard keeps it. What follows from the choices is set apart.
function buildBoard(board, player) {
  const { puzzle, words } = player;
  let ask = 0;
  const asked = player.model.present ? answer : choices;
  const rows = puzzle.steps.map((step) => madeRow(step.name, step.options.length ? asked(player, step, ask++) : made('span'), step));
  board.replaceChildren(madeRow(words.begins, made('span')), ...rows, madeRow(words.goal, made('span')));
  board.dataset.many = rows.length > MOST_IN_ONE_COLUMN;
  player.figure.style.setProperty('--half', Math.ceil((rows.length + 2) / 2));
}

function madeRow(text, asked, { kind = '', makes = '' } = {}) {
  const row = made('li');
  const name = made('span', { className: 'name', textContent: text });
  row.dataset.kind = kind;
  if (makes) name.append(made('small', { textContent: ` → ${makes}` }));
  row.append(name, asked, made('span'), made('span', { className: 'cost' }));
  return row;
}

function fillBoard(board, player) {
  const { puzzle, chosen } = player;
  const walk = walked(puzzle, chosen);
  const rows = [...board.children];
  setOutcome(rows[0], picture(player, puzzle.begins));
  puzzle.steps.forEach((step, i) => fillRow(rows[i + 1], player, walk, i));
  if (player.model.present) fillAnswers(rows.slice(1, -1), player);
  const last = rows.at(-1);
  setOutcome(last, picture(player, puzzle.ends));
  const off = walk.refused === 'goal';
  last.children[1].replaceWith(made('span', { className: off ? 'refusal' : 'reached', textContent: off ? why(player, walk) : walk.done ? '✓' : '' }));
}

const setOutcome = (row, outcome) => row.children[2].replaceWith(outcome);

function fillRow(row, player, walk, step) {
  const { words } = player;
  const move = walk.taken[step];
  const off = move && !move.after;
  row.dataset.still = !move;
  row.dataset.off = Boolean(off);
  setOutcome(row, off ? made('span', { className: 'refusal', textContent: why(player, walk) }) : move ? picture(player, move.after) : made('span'));
  row.children[3].textContent = move?.hops ? `${written(move.traffic)}, ${filled(words.hops, move)}` : '';
}

function picture(player, place) {
  const { puzzle, theme, model } = player;
  const cell = made('span', { className: 'picture' });
  cell.innerHTML = rankBlocks(heldAt(place), puzzle.ranks, theme, model.present ? 1.5 : 1);
  cell.append(made('span', { className: 'told', textContent: puzzle.told[place] }));
  return cell;
}

function choices(player, step, ask) {
  const set = made('fieldset');
  const named = step.options.map(([, label], k) => [label, k]);
  set.append(made('legend', { textContent: step.name }), ...radios(`puzzle-${ask}`, named, player.chosen[ask], (k) => player.choose(ask, k)));
  return set;
}

// On a wall one choice is asked at a time, under the board; a row tells what was answered, and asks again when pressed.
function answer(player, step, ask) {
  return made('button', { type: 'button', className: 'answer', onclick: () => player.askAgain(ask) });
}

function fillAnswers(rows, player) {
  const asking = player.puzzle.steps.flatMap((step, i) => (step.options.length ? [{ step, row: rows[i] }] : []));
  asking.forEach(({ step, row }, ask) => {
    const [, said = '?'] = step.options[player.chosen[ask]] ?? [];
    const button = row.querySelector('.answer');
    row.dataset.answered = said !== '?';
    row.dataset.asked = ask === player.asking;
    button.textContent = said;
    button.ariaLabel = `${step.name}: ${said}`;
  });
}

// The choices of the step that is asked. Whoever pressed one has the keyboard at the next.
function fillAsk(place, player) {
  const step = player.puzzle.steps.filter(({ options }) => options.length)[player.asking];
  const held = place.contains(place.getRootNode().activeElement);
  place.hidden = !step;
  if (!step) return place.replaceChildren();
  const buttons = step.options.map(([, label], k) => {
    const button = made('button', { type: 'button', textContent: label, onclick: () => player.choose(player.asking, k) });
    button.setAttribute('aria-pressed', player.chosen[player.asking] === k);
    return button;
  });
  place.replaceChildren(made('legend', { textContent: step.name }), ...buttons);
  if (held) buttons[0].focus();
  return undefined;
}
