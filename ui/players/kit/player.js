// A player's life: where it stands, whether it runs, its buttons and keys. Nothing is sent to the server.
//
// A player extends this with `read(data)`, what it is told, as a model with {words, alt, name, present, controls, start};
// `layOut(width)` and `draw()`; `stops`, the positions a step goes to, from the first to the last; `lasts`, in how many
// milliseconds it plays through; `position()` in words; `spoken()`, what a step is announced as; `saved()`, a file.

const ICONS = {
  back: 'M13 2v12L6 8zM3 2h2v12H3z',
  play: 'M3 2v12l10-6z',
  pause: 'M3 2h4v12H3zM9 2h4v12H9z',
  on: 'M3 2v12l7-6zM11 2h2v12h-2z',
  save: 'M7 2h2v6h3l-4 4-4-4h3zM3 13h10v1.600H3z',
};
const SPEEDS = [['½', 0.5], ['1×', 1], ['2×', 2], ['4×', 4]];
const AT_ONCE = 1e-9;

class Player {
  constructor(root) {
    this.figure = root.querySelector('figure');
    this.find = (selector) => this.figure.querySelector(selector);
    [this.stage, this.slider, this.output] = ['.stage', 'input[type=range]', 'output'].map(this.find);
    Object.assign(this, { at: 0, index: 0, speed: 1, playing: false, stops: [0], lasts: 1 });
    this.addControls(this.find('.controls'));
    this.onKey = (event) => this.pressed(event);
    window.addEventListener('keydown', this.onKey, true);
    this.watch = new ResizeObserver(() => this.resized());
    this.watch.observe(this.figure);
    document.fonts.ready.then(() => this.redraw());
  }

  addControls(controls) {
    const does = { back: () => this.step(-1), play: () => this.toggle(), on: () => this.step(1), save: () => this.save() };
    this.buttons = Object.fromEntries(Object.entries(does).map(([name, act]) => [name, iconButton(name, act)]));
    const { back, play, on, save } = this.buttons;
    play.append(made('span'), ' ', made('kbd'));
    controls.prepend(back, play, on);
    controls.append(save);
    this.live = liveIn(this.figure);
    this.find('.speed')?.append(...radios(`speed-${Math.random().toString(36).slice(2)}`, SPEEDS, 1, (speed) => { this.speed = speed; }));
    if (!this.slider) return;
    this.slider.oninput = () => { this.pause(); this.goTo(this.stops[Number(this.slider.value)]); };
    this.slider.onchange = () => this.tell();
  }

  // The same payload again, which every rerun of the page brings, leaves the player as it stands.
  show(data) {
    if (!same(data, this.data)) {
      this.isNew = this.data === undefined;
      this.data = data;
      this.begin(this.read(data));
    }
    this.redraw();
  }

  begin(model) {
    this.pause();
    this.model = model;
    speakAs(this.model.words);
    this.name();
    this.load();
    this.live.textContent = '';
  }

  // To where the model says: at rest, at one of the ends.
  load() {
    this.stand(this.left() ?? (this.model.start === 'end' ? this.end : 0));
  }

  // Where it was left: in this tab, on this page, over as many stops. A reload or the way back finds it there.
  get place() {
    return `${location.pathname} ${this.model.name} ${this.stops.length} ${this.end}`;
  }

  left() {
    const kept = this.model.controls === false || !this.isNew ? null : sessionStorage.getItem(this.place);
    return kept === null ? null : this.stops[Number(kept)];
  }

  name() {
    const { words, present, controls = true } = this.model;
    for (const [name, button] of Object.entries(this.buttons)) button.ariaLabel = words[name] ?? null;
    this.buttons.play.ariaLabel = null;
    this.buttons.play.querySelector('kbd').textContent = words.space ?? '';
    this.slider?.setAttribute('aria-label', words.slider);
    if (this.find('.speed')) this.find('.speed legend').textContent = words.speed;
    Object.assign(this.figure.dataset, { present, controls });
    this.mark();
  }

  get end() {
    return this.stops[this.stops.length - 1];
  }

  resized() {
    if (this.model && this.figure.clientWidth !== this.width) this.redraw();
  }

  redraw() {
    this.width = this.figure.clientWidth;
    if (!this.model || !this.width) return;
    this.theme = readTheme(this.figure);
    this.figure.style.setProperty('--legend', `${this.find('.speed legend')?.offsetWidth ?? 0}px`);
    if (!this.theme.whole) this.later ??= setTimeout(() => { this.later = null; this.redraw(); }, 100);
    this.layout = this.layOut(this.width);
    this.drawNow();
  }

  drawNow() {
    if (!this.layout) return;
    this.draw();
    const words = this.position();
    if (this.output) this.output.textContent = words;
    if (!this.slider) return;
    this.slider.max = this.stops.length - 1;
    this.slider.value = this.index;
    this.slider.style.setProperty('--done', this.index / Math.max(1, this.stops.length - 1));
    this.slider.setAttribute('aria-valuetext', words);
  }

  stand(at) {
    this.at = Math.max(0, Math.min(this.end, at));
    this.index = this.stops.findLastIndex((stop) => stop <= this.at + AT_ONCE);
    this.figure.dataset.stop = this.index;
  }

  // A player that draws between its stops says so with `flows`.
  goTo(at) {
    const before = this.index;
    this.stand(at);
    if (this.flows || this.index !== before) this.drawNow();
  }

  // From between two stops, one step back is to the earlier of them.
  step(by) {
    this.pause();
    const between = by < 0 && this.at > this.stops[this.index] + AT_ONCE ? 1 : 0;
    this.goTo(this.stops[Math.max(0, Math.min(this.stops.length - 1, this.index + by + between))]);
    this.tell();
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.at >= this.end) this.goTo(0);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.goTo(this.end);
      return this.tell();
    }
    this.playing = true;
    this.mark();
    return this.run();
  }

  run() {
    let last = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      // the first frame may have begun before the key was pressed
      this.goTo(this.at + (Math.max(0, now - last) * this.speed * this.end) / this.lasts);
      last = now;
      if (this.at >= this.end || !this.figure.isConnected) this.pause();
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  pause() {
    const was = this.playing;
    this.playing = false;
    if (!was) return;
    this.mark();
    this.tell();
  }

  // Play or Pause, by what the button would do.
  mark() {
    const does = this.playing ? 'pause' : 'play';
    this.find('[data-do=play] path').setAttribute('d', ICONS[does]);
    this.find('[data-do=play] span').textContent = this.model.words[does];
    this.figure.dataset.atRest = !this.playing;
  }

  tell() {
    sessionStorage.setItem(this.place, this.index);
    this.live.textContent = this.spoken();
  }

  // Heard before the page's own shortcuts. Without controls it is a still picture, and hears nothing.
  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.figure.clientWidth || this.figure.dataset.controls !== 'true') return;
    const act = this.actOf(event.key, event.composedPath()[0]);
    if (!act) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (!event.repeat || event.key !== ' ') act();
  }

  // Space anywhere; the arrows where the stage has the focus. A player adds keys of its own.
  actOf(key, target) {
    if (key === ' ') return wantsSpace(target) ? null : () => this.toggle();
    const by = { ArrowRight: 1, ArrowLeft: -1, Home: -this.stops.length, End: this.stops.length }[key];
    return by && this.stage.contains(target) ? () => this.step(by) : null;
  }

  save() {
    const { name, file } = this.saved();
    const href = URL.createObjectURL(file);
    made('a', { download: name, href }).click();
    setTimeout(() => URL.revokeObjectURL(href), 1000);
  }

  leave() {
    this.playing = false;
    this.watch.disconnect();
    window.removeEventListener('keydown', this.onKey, true);
  }
}

const made = (tag, properties = {}) => Object.assign(document.createElement(tag), properties);

function iconButton(name, onclick) {
  const button = made('button', { type: 'button', className: name === 'play' ? 'play' : `icon ${name}`, onclick });
  button.dataset.do = name;
  button.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`;
  return button;
}

// One of a few: a label and its radio for each [text, value].
function radios(name, choices, chosen, choose) {
  return choices.map(([textContent, value]) => {
    const choice = made('label');
    choice.append(made('input', { type: 'radio', name, checked: value === chosen, onchange: () => choose(value) }), made('span', { textContent }));
    return choice;
  });
}

// What a screen reader is told as it changes.
function liveIn(figure) {
  const live = made('p', { className: 'live', ariaLive: 'polite' });
  figure.append(live);
  return live;
}

// A player's part of the address, by its name; '' is none.
const heldInAddress = (param) => new URL(window.location.href).searchParams.get(param) ?? '';

function keepInAddress(param, text) {
  const url = new URL(window.location.href);
  if (text) url.searchParams.set(param, text);
  else url.searchParams.delete(param);
  if (url.href !== window.location.href) window.history.replaceState(window.history.state, '', url);
}

function same(data, before) {
  if (!(data instanceof Uint8Array)) return JSON.stringify(data) === JSON.stringify(before);
  return data.length === before?.length && data.every((byte, i) => byte === before[i]);
}

const WRITES = 'input:not([type=range], [type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable=true], [role=combobox], [role=textbox], [role=option]';
const PRESSES = 'button, summary, a[href], input[type=radio], input[type=checkbox], [role=button], [role=radio], [role=switch], [role=checkbox], [role=menuitem]';

// A control that was reached by the keyboard keeps the space bar. One that the mouse has just pressed has had its turn.
let clicked = null;
window.addEventListener('pointerdown', (event) => { [clicked] = event.composedPath(); }, true);
window.addEventListener('keydown', (event) => { if (event.key === 'Tab') clicked = null; }, true);

function wantsSpace(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest(WRITES)) return true;
  const control = target.closest(PRESSES);
  return control !== null && !(clicked && (control.closest('label') ?? control).contains(clicked));
}

// A component's default export: one player a place, for as long as the place is there.
function mountAs(Kind) {
  const players = new WeakMap();
  return ({ data, parentElement }) => {
    if (!players.has(parentElement)) players.set(parentElement, new Kind(parentElement));
    players.get(parentElement).show(data);
    return () => {
      players.get(parentElement)?.leave();
      players.delete(parentElement);
    };
  };
}
