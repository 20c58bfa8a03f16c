// The stepper's life: which step it stands at, whether it plays, which output it follows. Nothing goes to the server.

const STEP_MS = 1500;
const PLAY = 'M3 2v12l10-6z';
const PAUSE = 'M3 2h4v12H3zM9 2h4v12H9z';
const steppers = new WeakMap();

class Stepper {
  constructor(host) {
    this.figure = host.querySelector('figure');
    const find = (selector) => this.figure.querySelector(selector);
    [this.stage, this.svg, this.notes, this.track] = ['.stage', '.stage svg', 'aside', '.track'].map(find);
    [this.caption, this.live] = ['figcaption', '.live'].map(find);
    [this.backButton, this.playButton, this.nextButton] = ['back', 'play', 'next'].map((name) => find(`[data-do=${name}]`));
    this.step = 0;
    this.only = null;
    this.timer = null;
    this.backButton.onclick = () => this.move(-1);
    this.nextButton.onclick = () => this.move(1);
    this.playButton.onclick = () => this.toggle();
    find('[data-do=export]').onclick = () => this.save();
    this.svg.onpointerover = (event) => this.point(event);
    this.svg.onclick = (event) => this.point(event);
    this.svg.addEventListener('focusin', (event) => this.point(event));
    this.svg.onkeydown = (event) => this.walk(event);
    this.onKey = (event) => this.pressed(event);
    window.addEventListener('keydown', this.onKey, true);
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.figure);
  }

  show(data) {
    const key = this.board?.steps[this.step]?.key;
    const same = JSON.stringify(data) === JSON.stringify(this.data);
    this.stop();
    this.data = data;
    if (!same) this.only = null;
    this.draw();
    const kept = this.board.steps.findIndex((step) => step.key === key);
    const last = this.board.steps.length - 1;
    const start = data.start < 0 ? last + 1 + data.start : Math.min(data.start, last);
    this.step = kept < 0 || !data.controls ? start : kept;
    if (!same) this.followed = this.board.follow;
    this.settle(false);
  }

  resized() {
    const width = this.figure.clientWidth;
    if (!this.data || width === this.width || !width) return;
    const before = this.board;
    this.draw();
    if (before !== this.board) this.followed = this.board.follow;
    this.settle(false);
  }

  draw() {
    this.width = this.figure.clientWidth || 852;
    const { views, present, controls } = this.data;
    this.figure.dataset.present = present;
    this.figure.dataset.controls = controls;
    this.figure.dataset.beside = !present && controls && this.width > 1000;
    const room = (this.stage.clientWidth || this.width) - 6;
    this.view = fittingView(views, room, present);
    this.board = this.view.board;
    this.plan = layOut(this.board, room, present);
    const colours = paletteOf(this.figure);
    this.figure.dataset.dark = colours.dark;
    const { root, parts } = drawBoard(this.board, this.plan, colours);
    this.parts = parts;
    this.svg.setAttribute('viewBox', `0 0 ${this.plan.width} ${this.plan.height}`);
    this.svg.setAttribute('width', this.plan.width);
    this.svg.setAttribute('height', this.plan.height);
    this.svg.style.fontSize = `${this.plan.size.text}px`;
    for (const [name, size] of [['small', this.plan.size.small], ['name', this.plan.size.name], ['code', this.plan.size.code]]) {
      this.svg.style.setProperty(`--${name}`, `${size}px`);
    }
    const definitions = el('defs');
    definitions.innerHTML = DEFINITIONS;
    this.svg.replaceChildren(definitions, root);
    this.addTargets();
    this.caption.textContent = this.view.reading;
    fillTrack(this.track, this.board.steps, (index) => this.go(index));
  }

  // Every cell that stands for one output can be pointed at; the result's first copies take the keyboard as well.
  addTargets() {
    const reachable = this.board.outputs.map((output) => output.rings.find((ring) => ring.target));
    this.board.outputs.forEach((output, index) => {
      for (const ring of output.rings.filter((r) => r.target)) this.addTarget(output, index, ring, reachable);
    });
  }

  addTarget(output, index, ring, reachable) {
    const block = this.svg.querySelector(`[data-row="${CSS.escape(ring.row)}"][data-block="${ring.block}"]`);
    const { cw, ch } = this.plan;
    const target = el('rect', { x: ring.left * cw, y: ring.top * ch, width: cw, height: ch, class: 'hit', 'data-follow': index });
    if (ring === reachable[index]) {
      for (const [name, value] of [['tabindex', '-1'], ['role', 'button'], ['aria-label', `${output.label} is ${output.total}; follow it`]]) target.setAttribute(name, value);
    }
    block?.append(target);
  }

  // The state of the current step, at once or in motion.
  settle(inMotion, from = this.step) {
    const { step } = this;
    this.svg.toggleAttribute('data-whole', step === 0);
    this.figure.toggleAttribute('data-still', !inMotion);
    for (const part of this.parts) {
      const seen = part.seen(step);
      const fresh = seen && !part.seen(from) && step > from;
      const { x, y } = part.at(step);
      part.node.style.transitionDelay = fresh && inMotion ? `${part.delay}ms` : '0ms';
      part.node.style.transform = `translate(${x}px, ${y}px)`;
      const others = this.only !== null && Number.isInteger(part.rank) && part.rank !== this.only;
      part.node.style.opacity = seen ? (others ? 0.14 : 1) : 0;
      part.node.style.visibility = seen ? 'visible' : 'hidden';
    }
    this.follow(this.followed);
    this.describe();
  }

  describe() {
    const { steps } = this.board;
    const last = this.step === steps.length - 1;
    const title = `Step ${this.step + 1} of ${steps.length}, ${steps[this.step].name}`;
    const words = this.view.captions[this.step];
    this.svg.setAttribute('aria-label', `${title}. ${words}`);
    this.live.textContent = `${title}. ${words}`;
    this.backButton.disabled = this.step === 0;
    this.nextButton.disabled = last;
    markTrack(this.track, this.step);
    fillNotes(this.notes, { title, words, notes: this.view.notes, step: this.step, output: this.board.outputs[this.followed], colours: paletteOf(this.figure), ranks: this.board.num_ranks });
    this.drawPlay();
  }

  follow(index) {
    this.followed = index;
    drawRings(this.svg, this.board.outputs[index], this.plan);
    this.svg.querySelectorAll('[data-follow][tabindex]').forEach((target) => {
      const chosen = Number(target.dataset.follow) === index;
      target.setAttribute('tabindex', chosen ? '0' : '-1');
      target.setAttribute('aria-pressed', chosen);
    });
  }

  // One rank alone: the others fade until it is picked again.
  pick(rank) {
    this.only = this.only === rank ? null : rank;
    this.svg.querySelectorAll('[data-only]').forEach((hit) => hit.setAttribute('aria-pressed', Number(hit.dataset.only) === this.only));
    this.settle(true);
  }

  point(event) {
    if (event.type === 'click' && event.target.dataset?.only !== undefined) this.pick(Number(event.target.dataset.only));
    const index = event.target.dataset?.follow;
    if (index === undefined || Number(index) === this.followed) return;
    this.follow(Number(index));
    this.describe();
  }

  // Arrow keys on a focused output go to its neighbour.
  walk(event) {
    if (event.target.dataset?.only !== undefined && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      this.pick(Number(event.target.dataset.only));
      return;
    }
    const turn = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!turn || event.target.dataset?.follow === undefined) return;
    const count = this.board.outputs.length;
    this.follow((this.followed + turn + count) % count);
    this.describe();
    this.svg.querySelector('[data-follow][tabindex="0"]')?.focus();
    event.preventDefault();
  }

  move(turn) {
    this.stop();
    this.go(this.step + turn);
  }

  go(index) {
    const target = Math.max(0, Math.min(index, this.board.steps.length - 1));
    if (target === this.step) return;
    const from = this.step;
    this.step = target;
    this.settle(true, from);
  }

  toggle() {
    if (this.timer) {
      this.stop();
      return;
    }
    const last = this.board.steps.length - 1;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.go(this.step === last ? 0 : last);
      return;
    }
    this.go(this.step === last ? 0 : this.step + 1);
    this.timer = setInterval(() => {
      this.go(this.step + 1);
      if (this.step === last) this.stop();
    }, STEP_MS);
    this.drawPlay();
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    if (this.board) this.drawPlay();
  }

  drawPlay() {
    this.playButton.querySelector('path').setAttribute('d', this.timer ? PAUSE : PLAY);
    this.playButton.querySelector('span').textContent = this.timer ? 'Pause' : 'Play';
  }

  // Heard before Streamlit's own shortcuts: the last step lets Next through to the page, the first one Back.
  pressed(event) {
    if (!this.data?.controls || event.ctrlKey || event.metaKey || event.altKey || !this.figure.getClientRects().length) return;
    const target = event.composedPath()[0];
    const action = this.actionOf(event.key, target);
    if (!action) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    action();
  }

  actionOf(key, target) {
    const within = (selector) => target instanceof Element && target.closest(selector) !== null;
    if (within('input, textarea, select, [contenteditable=true], [role=slider], [role=combobox]')) return null;
    if (key === ' ') return within('button, a, summary, [role=button], [role=tab], [role=radio]') ? null : () => this.toggle();
    const isArrow = key === 'ArrowRight' || key === 'ArrowLeft';
    if (isArrow && within('[role=tab], [role=radiogroup], [role=radio], [data-follow], [role=menu], [role=grid]')) return null;
    const turn = { n: 1, arrowright: 1, b: -1, arrowleft: -1 }[key.toLowerCase()];
    const next = this.step + (turn ?? 0);
    return turn && next >= 0 && next < this.board.steps.length ? () => this.move(turn) : null;
  }

  save() {
    const name = `${this.data.name}-${this.board.steps[this.step].key}.svg`;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([standalone(this.svg, paletteOf(this.figure))], { type: 'image/svg+xml' }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  end() {
    this.stop();
    this.watch.disconnect();
    window.removeEventListener('keydown', this.onKey, true);
  }
}

function mount({ data, parentElement }) {
  let stepper = steppers.get(parentElement);
  if (!stepper) {
    stepper = new Stepper(parentElement);
    steppers.set(parentElement, stepper);
  }
  stepper.show(data);
  return () => stepper.end();
}

export default mount;
