// The block stepper: a stop a step, an output that is followed, a rank that is looked at alone.

const STEP_MS = 1500;

class Stepper extends Player {
  constructor(root) {
    super(root);
    [this.svg, this.notes, this.track, this.caption] = ['.stage svg', 'aside', '.track', 'figcaption'].map(this.find);
    this.buttons.on.append(made('span'), ' ', made('kbd', { textContent: 'N' }));
    this.svg.onpointerover = (event) => this.point(event);
    this.svg.onclick = (event) => this.point(event);
    this.svg.addEventListener('focusin', (event) => this.point(event));
    this.svg.onkeydown = (event) => this.walk(event);
    this.only = null;
  }

  read(data) {
    // another computation begins where the page says, the same one on other numbers where it stood
    const before = data.name === this.model?.name ? this.board?.steps[this.index]?.key : undefined;
    return { ...data, kept: data.views[0].board.steps.findIndex((step) => step.key === before) };
  }

  // On other numbers it stays at the step it stood at, if they have one of that name.
  load() {
    const { kept, start, controls, views, words } = this.model;
    const last = views[0].board.steps.length - 1;
    this.stops = views[0].board.steps.map((_, step) => step);
    this.lasts = STEP_MS * last;
    Object.assign(this, { only: null, board: null });
    this.buttons.on.querySelector('span').textContent = words.on;
    const first = start < 0 ? last + 1 + start : Math.min(start, last);
    this.stand(kept < 0 || !controls ? first : kept);
  }

  layOut(width) {
    const { views, present, controls, unnamed } = this.model;
    const before = this.board;
    this.figure.dataset.beside = !present && controls && width > 1000;
    const room = (this.stage.clientWidth || width) - 6;
    this.view = fittingView(views, room, present, controls, unnamed);
    this.board = this.view.board;
    if (before !== this.board) this.followed = this.board.follow;
    this.plan = layOut(this.board, room, present, controls, unnamed);
    this.figure.dataset.dark = this.theme.dark;
    const { root, parts } = drawBoard(this.board, this.plan, this.theme, this.model.words);
    Object.assign(this, { parts, shown: null });
    this.fit(root);
    this.addTargets();
    this.caption.textContent = joined(this.view.reading);
    fillTrack(this.track, this.board.steps, (step) => { this.pause(); this.goTo(step); });
    return this.plan;
  }

  fit(root) {
    const { width, height, size } = this.plan;
    for (const [name, value] of [['viewBox', `0 0 ${width} ${height}`], ['width', width], ['height', height]]) this.svg.setAttribute(name, value);
    this.svg.style.fontSize = `${size.text}px`;
    for (const name of ['small', 'name', 'code']) this.svg.style.setProperty(`--${name}`, `${size[name]}px`);
    const definitions = el('defs');
    definitions.innerHTML = DEFINITIONS;
    this.svg.replaceChildren(definitions, root);
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
    const { cw, ch, size } = this.plan, tall = Math.max(ch, size.touch ?? 0); // a finger's, over the gaps between the rows
    const target = el('rect', { x: ring.left * cw, y: (ring.top + 0.5) * ch - tall / 2, width: cw, height: tall, class: 'hit', 'data-follow': index });
    if (ring === reachable[index]) {
      const label = filled(this.model.words.follow, output);
      for (const [name, value] of [['tabindex', '-1'], ['role', 'button'], ['aria-label', label]]) target.setAttribute(name, value);
    }
    block?.append(target);
  }

  // The state of the current step, in motion where it stood at another before.
  draw() {
    const from = this.shown ?? this.index;
    this.settle(from !== this.index, from);
    if (this.shown !== null && from !== this.index) {
      this.tell();
      this.address();
    }
    this.shown = this.index;
  }

  // The step in the address bar, by its key: a copied address opens where it stood. The first step needs no mention.
  address() {
    const { param } = this.model;
    if (param) keepInAddress(param, this.index ? this.board.steps[this.index].key : '');
  }

  settle(inMotion, from = this.index) {
    const step = this.index;
    this.svg.toggleAttribute('data-whole', step === 0);
    this.figure.toggleAttribute('data-still', !inMotion);
    for (const part of this.parts) {
      const seen = part.seen(step);
      const fresh = seen && !part.seen(from) && step > from;
      const { x, y } = part.at(step);
      part.node.style.transitionDelay = fresh && inMotion ? `${part.delay}ms` : '0ms';
      part.node.style.transform = `translate(${x}px, ${y}px)`;
      const others = this.only !== null && Number.isInteger(part.rank) && part.rank !== this.only;
      part.node.style.opacity = Number(seen) && (others ? 0.14 : 1);
      part.node.style.visibility = seen ? 'visible' : 'hidden';
    }
    this.follow(this.followed);
    this.describe();
  }

  describe() {
    const words = this.view.captions[this.index];
    this.svg.setAttribute('aria-label', this.spoken());
    this.buttons.back.disabled = this.index === 0;
    this.buttons.on.disabled = this.at >= this.end;
    markTrack(this.track, this.index);
    fillNotes(this.notes, { title: this.position(), words, notes: this.view.notes, step: this.index, output: this.board.outputs[this.followed], theme: this.theme, ranks: this.board.num_ranks, said: this.model.words });
  }

  position() {
    const { steps } = this.board;
    return filled(this.model.words.position, { step: this.index + 1, all: steps.length, name: steps[this.index].name });
  }

  spoken() {
    return `${this.position()}. ${this.view.captions[this.index]}`;
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

  // Play begins with a step, and is not still for the length of one.
  toggle() {
    super.toggle();
    if (this.playing) this.goTo(this.at + 1);
  }

  // N and B are its own as well, and a clicker's keys: the last step lets Next through to the page, the first one Back.
  actOf(key, target) {
    if (key === ' ') return super.actOf(key, target);
    const within = (selector) => target instanceof Element && target.closest(selector) !== null;
    if (within(`${WRITES}, [role=slider], input[type=range]`)) return null;
    const isArrow = key === 'ArrowRight' || key === 'ArrowLeft';
    if (isArrow && within('[role=radiogroup], [role=radio], [data-follow], [role=menu], [role=grid]')) return null;
    const clicker = this.model.present ? { pagedown: 1, pageup: -1 } : {};
    const by = { n: 1, arrowright: 1, b: -1, arrowleft: -1, ...clicker }[key.toLowerCase()];
    const next = this.index + (by ?? 0);
    return by && next >= 0 && next < this.stops.length ? () => this.step(by) : null;
  }

  saved() {
    const name = `${this.model.name}-${this.board.steps[this.index].key}.svg`;
    return { name, file: svgFile(standalone(this.svg, this.theme)) };
  }
}

export default mountAs(Stepper);
