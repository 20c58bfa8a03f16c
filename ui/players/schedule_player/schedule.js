// The schedule player: ranks down, ticks across, one stop a tick; it follows a microbatch and counts what is idle.

const TICK_MS = 350; // at speed 1
const LONGEST_MS = 30000; // a long grid plays through in this at speed 1
const MOST_SPOKEN = 16; // ranks whose action is announced one by one

class SchedulePlayer extends Player {
  constructor(root) {
    super(root);
    [this.canvas, this.gutter, this.scroll, this.notes] = ['canvas.grid', 'canvas.gutter', '.scroll', '.notes'].map(this.find);
    this.canvas.onclick = (event) => this.pick(event);
    this.canvas.onmousemove = (event) => { this.canvas.title = this.under(event); };
    this.scroll.onscroll = () => this.markEdges();
    this.told = {};
    this.onLive = ({ detail }) => this.turn(detail);
    window.addEventListener('live', this.onLive);
  }

  leave() {
    super.leave();
    window.removeEventListener('live', this.onLive);
  }

  // A control of the page has another run open: it is shown before the server has answered.
  turn({ key, value }) {
    const told = this.model?.turns[key];
    if (!told) return;
    if (Number(value) === told[0]) delete this.told[key];
    else this.told[key] = Number(value);
    const model = turnedTo(this.model, this.told);
    if (model.grids[0] === this.model.grids[0]) return;
    this.isNew = false;
    this.begin(model);
    this.redraw();
  }

  // The answer for a run that is shown already leaves it where it stands.
  begin(model) {
    if (!this.model?.runs || JSON.stringify(model.grids) !== JSON.stringify(this.model.grids)) return super.begin(model);
    this.model = model;
    this.describe();
    return this.name();
  }

  describe() {
    this.canvas.setAttribute('aria-label', this.model.alt);
  }

  read(bytes) {
    const model = parsePayload(bytes), turns = Object.entries(model.turns);
    for (const [key, [at]] of turns) if (this.told[key] === at) delete this.told[key];
    return turns.length ? turnedTo({ ...model, runs: model.grids }, this.told) : measured(model);
  }

  load() {
    const { ticks, follow, microbatches } = this.model;
    this.stops = Array.from({ length: ticks + 1 }, (_, tick) => tick);
    this.lasts = Math.min(TICK_MS * ticks, LONGEST_MS);
    Object.assign(this, { counted: null, upTo: Infinity });
    this.followed = this.spansFollowed(follow === null ? null : Math.min(follow, microbatches - 1));
    this.describe();
    super.load();
  }

  spansFollowed(microbatch) {
    this.following = microbatch;
    return microbatch === null ? [] : this.model.grids.map((grid) => spansOf(grid, microbatch));
  }

  layOut(width) {
    const { font } = this.theme;
    const pen = this.gutter.getContext('2d');
    const layout = layOut(this.model, width, (words, px) => Object.assign(pen, { font: `400 ${px}px ${font}` }).measureText(words).width);
    this.figure.dataset.scrolls = layout.scrolls;
    this.listNotes(layout);
    sizedCanvas(this.canvas, layout.width + 2 * PAD, layout.height);
    sizedCanvas(this.gutter, layout.size.gutter - PAD, layout.height);
    paintGutter(canvasPen(this.gutter.getContext('2d'), this.theme), this.model, layout, this.theme);
    this.sheets = makeSheets(this.model, layout, this.theme);
    return layout;
  }

  // The sentences that the drawing leaves out, as text.
  listNotes(layout) {
    const sentences = this.model.grids.flatMap((grid) => grid.marks
      .filter((mark) => isListed(mark, layout)).map((mark) => `${grid.labels[Math.floor(mark.rank)]}: ${mark.text}`));
    if (layout.scrolls) sentences.unshift(this.model.words.swipe);
    this.notes.replaceChildren(...sentences.map((textContent) => made('li', { textContent })));
  }

  // What is painted over the cells: up to which tick, what is followed, and whether idle is counted.
  get view() {
    return { tick: this.index, followed: this.followed, upTo: this.upTo, countsIdle: this.counted !== null && !this.layout.small };
  }

  draw() {
    this.markEdges();
    drawFrame(this.canvas, this.sheets, this.model, this.layout, this.theme, this.view);
  }

  position() {
    const { ticks, ticksPerUnit, words } = this.model;
    return this.counted ?? filled(words.position, { done: this.index / ticksPerUnit, all: ticks / ticksPerUnit });
  }

  goTo(tick) {
    if (this.counted !== null) {
      this.counted = null;
      this.drawNow();
    }
    super.goTo(tick);
    if (this.layout?.scrolls) this.keepInView();
  }

  // Which edges have more behind them.
  markEdges() {
    const { scrollLeft, clientWidth, scrollWidth } = this.scroll;
    Object.assign(this.figure.dataset, { before: scrollLeft > 4, after: scrollLeft + clientWidth < scrollWidth - 4 });
  }

  keepInView() {
    const x = this.layout.x(this.index), { scrollLeft, clientWidth } = this.scroll;
    if (x < scrollLeft + 20 || x > scrollLeft + clientWidth - 60) this.scroll.scrollLeft = x - clientWidth * 0.4;
  }

  // Where it stands, what ran in the tick just done, and what is followed.
  spoken() {
    const { words, grids } = this.model;
    const ran = this.counted === null && this.index ? grids.map((grid) => this.ranIn(grid, this.index - 1)) : [];
    const following = this.following === null ? [] : [filled(words.following, { microbatch: this.following })];
    return [this.position(), ...ran, ...following].join('. ');
  }

  ranIn(grid, tick) {
    if (tick >= grid.ticks) return grid.title;
    const { words } = this.model;
    const spans = grid.labels.map((_, rank) => spanAt(grid, rank, tick));
    const title = grid.title ? [grid.title] : [];
    if (grid.ranks > MOST_SPOKEN) return [...title, filled(words.many, { busy: spans.filter(Boolean).length, all: grid.ranks })].join(': ');
    return [...title, spans.map((span, rank) => (span ? filled(words.ran, { row: grid.labels[rank], ...this.action(span) }) : filled(words.rests, { row: grid.labels[rank] }))).join(', ')].join(': ');
  }

  action(span) {
    return { kind: this.model.words[`kind_${kindOf(span.code).toLowerCase()}`], microbatch: microbatchOf(span.code) };
  }

  cellUnder(event) {
    return this.layout && cellAt(this.model, this.layout, event.offsetX - PAD, event.offsetY);
  }

  under(event) {
    const cell = this.cellUnder(event);
    if (!cell) return '';
    const { words, ticksPerUnit } = this.model;
    const span = spanAt(cell.grid, cell.rank, cell.tick);
    const what = span ? filled(words.action, this.action(span)) : words.idle;
    return filled(words.under, { row: cell.grid.labels[cell.rank], tick: Math.floor(cell.tick / ticksPerUnit), what });
  }

  pick(event) {
    const cell = this.cellUnder(event);
    const span = cell && spanAt(cell.grid, cell.rank, cell.tick);
    if (span) this.choose(span);
    else if (cell) this.countIdle();
  }

  // Its dependency path is lit: what ran of this microbatch before. Chosen again, it is let go.
  choose(span) {
    const again = microbatchOf(span.code) === this.following && span.end === this.upTo;
    this.follow(again ? null : microbatchOf(span.code), span.end);
  }

  countIdle() {
    this.counted = this.counted === null ? this.model.grids.map((grid) => filled(this.model.words.counted, idleOf(grid))).join('; ') : null;
    this.drawNow();
    this.tell();
  }

  follow(microbatch, upTo = Infinity) {
    this.upTo = upTo;
    this.followed = this.spansFollowed(microbatch);
    this.drawNow();
    this.tell();
  }

  // Up and down choose the microbatch that is followed.
  actOf(key, target) {
    if (this.stage.contains(target)) {
      if (key === 'ArrowDown') return () => this.follow(Math.min((this.following ?? -1) + 1, this.model.microbatches - 1));
      if (key === 'ArrowUp') return () => this.follow(this.following ? this.following - 1 : null);
    }
    return super.actOf(key, target);
  }

  saved() {
    const svg = figureAsSvg(this.model, this.layout, this.theme, this.view);
    return svg ? { name: `${this.model.name}.svg`, file: svgFile(svg) } : { name: `${this.model.name}.png`, file: this.pasted() };
  }

  pasted() {
    const sheet = sizedCanvas(document.createElement('canvas'), this.layout.size.gutter + this.layout.width + PAD, this.layout.height);
    const context = sheet.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.theme.ground;
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.drawImage(this.gutter, 0, 0);
    context.drawImage(this.canvas, this.gutter.width, 0);
    const bytes = atob(sheet.toDataURL('image/png').split(',')[1]);
    return new Blob([Uint8Array.from(bytes, (byte) => byte.charCodeAt(0))], { type: 'image/png' });
  }
}

export default mountAs(SchedulePlayer);
