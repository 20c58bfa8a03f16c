// The player's life: what tick it stands at, whether it runs, what it follows. Nothing is sent to the server.

const TICK_MS = 350; // at speed 1
const LONGEST_MS = 30000; // a long grid plays through in this at speed 1
const SPEEDS = [["½", 0.5], ["1×", 1], ["2×", 2], ["4×", 4]];
const PLAY = "M3 2v12l10-6z";
const PAUSE = "M3 2h4v12H3zM9 2h4v12H9z";
const players = new WeakMap();

class Player {
  constructor(root) {
    this.figure = root.querySelector("figure");
    const find = (selector) => this.figure.querySelector(selector);
    this.canvas = find("canvas.grid");
    this.gutter = find("canvas.gutter");
    this.scroll = find(".scroll");
    this.slider = find("input[type=range]");
    this.output = find("output");
    this.live = find(".live");
    this.notes = find(".notes");
    this.playButton = find("[data-do=play]");
    this.speed = 1;
    this.tick = 0;
    this.playing = false;
    this.listen(find);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(this.figure);
    document.fonts.ready.then(() => this.redraw());
  }

  listen(find) {
    this.playButton.onclick = () => this.toggle();
    find("[data-do=back]").onclick = () => this.step(-1);
    find("[data-do=step]").onclick = () => this.step(1);
    find("[data-do=export]").onclick = () => this.save();
    this.slider.oninput = () => this.goTo(Number(this.slider.value));
    this.slider.onchange = () => this.tell();
    this.canvas.onclick = (event) => this.pick(event);
    this.canvas.onmousemove = (event) => this.name(event);
    this.canvas.onkeydown = (event) => this.onArrow(event);
    this.onSpace = (event) => this.pressed(event);
    document.addEventListener("keydown", this.onSpace);
    addSpeeds(find(".speed"), (speed) => (this.speed = speed));
  }

  show(bytes) {
    const same = this.bytes && bytes.length === this.bytes.length && bytes.every((byte, i) => byte === this.bytes[i]);
    if (!same) this.load(bytes);
    this.redraw();
  }

  load(bytes) {
    this.bytes = bytes;
    this.model = parsePayload(bytes);
    this.pause();
    this.countsIdle = false;
    this.counted = "";
    this.tick = this.model.start === "end" ? this.model.ticks : 0;
    this.upTo = Infinity;
    this.followed = this.spansFollowed(this.model.follow);
    this.canvas.setAttribute("aria-label", this.model.alt);
    this.slider.max = this.model.ticks;
    this.figure.dataset.present = this.model.present;
    this.figure.dataset.controls = this.model.controls;
  }

  spansFollowed(microbatch) {
    this.following = microbatch;
    return microbatch === null ? [] : this.model.grids.map((grid) => spansOf(grid, microbatch));
  }

  resize() {
    if (this.model && this.figure.clientWidth && this.figure.clientWidth !== this.width) this.redraw();
  }

  redraw() {
    this.width = this.figure.clientWidth;
    if (!this.model || !this.width) return;
    this.layout = layOut(this.model, this.width);
    this.style = readStyle(this.figure, this.layout);
    this.figure.dataset.scrolls = this.layout.scrolls;
    this.listNotes();
    sizedCanvas(this.canvas, this.layout.width + 2 * PAD, this.layout.height);
    sizedCanvas(this.gutter, this.layout.size.gutter - PAD, this.layout.height);
    paintGutter(canvasPen(this.gutter.getContext("2d"), this.style), this.model, this.layout, this.style);
    this.sheets = makeSheets(this.model, this.layout, this.style);
    this.draw();
  }

  // The sentences that the drawing leaves out, as text.
  listNotes() {
    const said = this.model.grids.flatMap((grid) => grid.marks.filter((mark) => isListed(mark, this.layout)).map((mark) => `${grid.labels[Math.floor(mark.rank)]}: ${mark.text}`));
    this.notes.replaceChildren(...said.map((textContent) => Object.assign(document.createElement("li"), { textContent })));
  }

  draw() {
    if (!this.sheets) return;
    drawFrame(this.canvas, this.sheets, this.model, this.layout, this.style, this);
    const { ticks, ticksPerUnit } = this.model;
    const words = `${this.tick / ticksPerUnit} of ${ticks / ticksPerUnit} ${ticks === ticksPerUnit ? "tick" : "ticks"}`;
    this.slider.value = this.tick;
    this.slider.style.setProperty("--done", this.tick / ticks);
    this.slider.setAttribute("aria-valuetext", words);
    this.output.textContent = this.counted || words;
    this.figure.dataset.tick = this.tick;
  }

  keepInView() {
    const x = this.layout.x(this.tick), { scrollLeft, clientWidth } = this.scroll;
    if (x < scrollLeft + 20 || x > scrollLeft + clientWidth - 60) this.scroll.scrollLeft = x - clientWidth * 0.4;
  }

  goTo(tick) {
    this.countsIdle = false;
    this.counted = "";
    this.tick = Math.max(0, Math.min(this.model.ticks, tick));
    this.draw();
    if (this.layout?.scrolls) this.keepInView();
  }

  step(by) {
    this.pause();
    this.goTo(this.tick + by);
    this.tell();
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.tick >= this.model.ticks) this.goTo(0);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.goTo(this.model.ticks);
      return this.tell();
    }
    this.playing = true;
    this.label();
    this.run();
  }

  run() {
    let last = performance.now();
    let owed = 0;
    const frame = (now) => {
      if (!this.playing) return;
      owed += ((now - last) * this.speed) / Math.min(TICK_MS, LONGEST_MS / this.model.ticks);
      last = now;
      if (owed >= 1) this.goTo(this.tick + Math.floor(owed));
      owed %= 1;
      if (this.tick >= this.model.ticks || !this.figure.isConnected) return this.pause();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    const was = this.playing;
    this.playing = false;
    this.label();
    if (was) this.tell();
  }

  label() {
    this.playButton.querySelector("path").setAttribute("d", this.playing ? PAUSE : PLAY);
    this.playButton.querySelector("span").textContent = this.playing ? "Pause" : "Play";
    this.figure.dataset.atRest = !this.playing;
  }

  tell() {
    const following = this.following === null ? "" : `, following microbatch ${this.following}`;
    const idle = this.counted ? `, ${this.counted}` : "";
    this.live.textContent = `${this.output.textContent}${following}${idle}`;
  }

  under(event) {
    return this.layout && cellAt(this.model, this.layout, event.offsetX - PAD, event.offsetY);
  }

  pick(event) {
    const cell = this.under(event);
    const span = cell && spanAt(cell.grid, cell.rank, cell.tick);
    if (span) this.choose(span);
    else if (cell) this.countIdle(!this.countsIdle);
  }

  // Its dependency path is lit: what ran of this microbatch before. Chosen again, it is let go.
  choose(span) {
    const again = microbatchOf(span.code) === this.following && span.end === this.upTo;
    this.follow(again ? null : microbatchOf(span.code), span.end);
  }

  countIdle(wanted) {
    this.countsIdle = wanted && !this.layout.small;
    this.counted = wanted ? this.model.grids.map(idleOf).join("; ") : "";
    this.draw();
    this.tell();
  }

  follow(microbatch, upTo = Infinity) {
    this.upTo = upTo;
    this.followed = this.spansFollowed(microbatch);
    this.draw();
    this.tell();
  }

  name(event) {
    const cell = this.under(event);
    const span = cell && spanAt(cell.grid, cell.rank, cell.tick);
    const what = span ? `${kindOf(span.code)} of microbatch ${microbatchOf(span.code)}` : "idle";
    this.canvas.title = cell ? `${cell.grid.labels[cell.rank]}, tick ${cell.tick}: ${what}` : "";
  }

  onArrow(event) {
    const { ticks } = this.model;
    const act = {
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.step(-ticks),
      End: () => this.step(ticks),
      ArrowDown: () => this.follow((this.following ?? -1) + 1),
      ArrowUp: () => this.follow(this.following ? this.following - 1 : null),
    }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  pressed(event) {
    if (event.code !== "Space" || event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.figure.isConnected || !this.figure.clientWidth || takesSpace(event.composedPath()[0], this.slider)) return;
    event.preventDefault();
    this.toggle();
  }

  save() {
    const svg = figureAsSvg(this.model, this.layout, this.style, this);
    if (svg) download(`${this.model.name}.svg`, URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })));
    else download(`${this.model.name}.png`, this.pasted().toDataURL("image/png"));
  }

  pasted() {
    const sheet = sizedCanvas(document.createElement("canvas"), this.layout.size.gutter + this.layout.width + PAD, this.layout.height);
    const context = sheet.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.style.ground;
    context.fillRect(0, 0, sheet.width, sheet.height);
    context.drawImage(this.gutter, 0, 0);
    context.drawImage(this.canvas, this.gutter.width, 0);
    return sheet;
  }

  end() {
    this.playing = false;
    this.watch.disconnect();
    document.removeEventListener("keydown", this.onSpace);
  }
}

// Whether an element wants the space bar for itself.
function takesSpace(element, ownSlider) {
  if (!element || element === ownSlider || !element.closest) return false;
  return element.isContentEditable || Boolean(element.closest("input, textarea, select, button, summary, a[href], [role=slider], [role=radio], [role=tab], [role=option], [role=combobox]"));
}

function addSpeeds(fieldset, choose) {
  const group = `speed-${Math.random().toString(36).slice(2)}`;
  for (const [label, value] of SPEEDS) {
    const input = Object.assign(document.createElement("input"), { type: "radio", name: group, checked: value === 1 });
    input.onchange = () => choose(value);
    const choice = document.createElement("label");
    choice.append(input, Object.assign(document.createElement("span"), { textContent: label }));
    fieldset.append(choice);
  }
}

function download(name, href) {
  Object.assign(document.createElement("a"), { download: name, href }).click();
}

export default function ({ data, parentElement }) {
  if (!players.has(parentElement)) players.set(parentElement, new Player(parentElement));
  players.get(parentElement).show(data);
  return () => {
    players.get(parentElement)?.end();
    players.delete(parentElement);
  };
}
