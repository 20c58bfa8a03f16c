// The puzzles: which one is open, what is chosen in it, what was solved, and all three in the address.

const LETTERS = '0123456789';
const STATES = ['open', 'solved', 'best'];

// What an address holds: the puzzle's number, a digit a choice, a digit a puzzle for how far it is solved. It may
// be any text: a number that is no puzzle's is the first's or the last's, and what is no digit is no choice.
function heldBy(text, count) {
  const [number, chosen = '', solved = ''] = text.split('.');
  const digits = (letters) => [...letters].map((letter) => LETTERS.indexOf(letter));
  const states = digits(solved);
  return {
    index: Math.min(Math.max(1, /^\d+$/.test(number) ? Number(number) : 1), count) - 1,
    chosen: digits(chosen),
    solved: Array.from({ length: count }, (_, i) => (states[i] > 0 && states[i] < STATES.length ? states[i] : 0)),
  };
}

class Puzzles {
  constructor(root) {
    this.figure = root.querySelector('figure');
    this.find = (selector) => this.figure.querySelector(selector);
    this.live = liveIn(this.figure);
    this.watch = new ResizeObserver(() => this.model && this.figure.isConnected && this.draw());
    this.watch.observe(this.figure);
    this.does = Object.fromEntries(['hint', 'again', 'next'].map((name) => [name, made('button', { type: 'button', onclick: () => this[name]() })]));
    for (const [name, button] of Object.entries(this.does)) button.dataset.does = name;
    this.find('.controls').append(...Object.values(this.does));
  }

  // The same payload again, which every rerun of the page brings, leaves the board as it stands.
  show(data) {
    const before = this.model;
    this.model = data;
    this.words = data.words;
    this.figure.dataset.present = data.present;
    if (!before) this.open(...this.asked());
    else if (same(data, before)) this.draw();
    else this.open(this.index, this.chosen);
  }

  asked() {
    const { index, chosen, solved } = heldBy(heldInAddress(this.model.param), this.model.puzzles.length);
    this.solved = solved;
    return [index, chosen];
  }

  open(index, chosen = []) {
    this.index = index;
    this.puzzle = this.model.puzzles[index];
    const asking = this.puzzle.steps.filter((step) => step.options.length);
    this.chosen = asking.map((step, k) => (chosen[k] >= 0 && chosen[k] < step.options.length ? chosen[k] : null));
    this.hinted = false;
    this.asking = this.firstOpen();
    buildBoard(this.find('.board'), this);
    this.draw();
  }

  choose(ask, choice) {
    this.chosen[ask] = choice;
    this.asking = this.firstOpen();
    this.draw();
    this.live.textContent = this.spoken();
  }

  // The choice that is asked on a wall: the first one that is open, or one that is taken back.
  firstOpen() {
    const open = this.chosen.indexOf(null);
    return open < 0 ? this.chosen.length : open;
  }

  askAgain(ask) {
    this.asking = ask;
    this.draw();
    this.find('.ask button')?.focus();
  }

  hint() {
    this.hinted = true;
    this.draw();
    this.live.textContent = this.puzzle.hint;
  }

  again() {
    this.open(this.index);
  }

  next() {
    this.open((this.index + 1) % this.model.puzzles.length);
    this.live.textContent = `${this.puzzle.name}. ${this.puzzle.task}`;
  }

  draw() {
    this.theme = readTheme(this.figure);
    this.judge();
    this.fillList();
    this.find('h3').textContent = filled(this.words.which, { number: this.index + 1, name: this.puzzle.name });
    this.find('.task').textContent = this.puzzle.task;
    fillBoard(this.find('.board'), this);
    if (this.model.present) fillAsk(this.find('.ask'), this);
    this.find('.sum').textContent = this.sum();
    this.find('.verdict').textContent = this.verdict();
    const { words } = this;
    this.find('.said').textContent = this.state === 2 ? this.puzzle.moral : this.hinted ? this.puzzle.hint : this.walk.open && !this.model.present ? words.open : '';
    for (const [name, said] of Object.entries({ hint: words.hint, again: words.again, next: words.next })) this.does[name].textContent = said;
    this.address();
  }

  // How far the open puzzle is solved by what is chosen now.
  judge() {
    this.walk = walked(this.puzzle, this.chosen);
    this.sent = { traffic: total(this.walk.taken, 'traffic'), hops: total(this.walk.taken, 'hops') };
    const least = this.sent.traffic <= this.puzzle.best_traffic && this.sent.hops <= this.puzzle.best_hops;
    this.state = this.walk.done ? (least ? 2 : 1) : 0;
    this.solved[this.index] = Math.max(this.solved[this.index], this.state);
  }

  fillList() {
    const { words } = this;
    this.find('.list').ariaLabel = words.list;
    this.find('.list').replaceChildren(...this.model.puzzles.map((puzzle, i) => {
      const item = made('li');
      const state = STATES[this.solved[i]];
      const button = made('button', { type: 'button', textContent: i + 1, onclick: () => { this.open(i); this.find('.list').children[i].firstChild.focus(); } });
      button.ariaLabel = `${filled(words.which, { number: i + 1, name: puzzle.name })}, ${words[`state_${state}`]}`;
      button.dataset.state = state;
      button.setAttribute('aria-current', i === this.index);
      item.append(button);
      return item;
    }));
  }

  sum() {
    const { puzzle, sent, words } = this;
    const now = filled(words.now, { bytes: written(sent.traffic), hops: sent.hops });
    return `${now}. ${filled(words.least, { bytes: written(puzzle.best_traffic), hops: puzzle.best_hops })}.`;
  }

  verdict() {
    const { words, walk, sent, state } = this;
    if (walk.refused) return why(this, walk);
    if (state) return filled(state === 2 ? words.best : words.right, { bytes: written(sent.traffic), hops: sent.hops });
    return '';
  }

  spoken() {
    const { taken } = this.walk;
    const held = taken.length ? (this.puzzle.told[taken.at(-1).after] ?? '') : '';
    return [held, this.verdict(), this.sum(), this.state === 2 ? this.puzzle.moral : ''].filter(Boolean).join(' ');
  }

  address() {
    const chosen = this.chosen.map((choice) => (choice === null ? '-' : LETTERS[choice])).join('');
    const begun = this.index || /\d/.test(chosen) || this.solved.some(Boolean);
    keepInAddress(this.model.param, begun ? [this.index + 1, chosen, this.solved.join('')].join('.') : '');
  }

  leave() {
    this.watch.disconnect();
  }
}

export default mountAs(Puzzles);
