// The player's life: where the stopwatch stands, and whether it runs. Nothing is sent to the server.

const ROUND_MS = 550;
const SHORTEST_MS = 2500;
const LONGEST_MS = 9000;
const PLAY = 'M3 2v12l10-6z';
const PAUSE = 'M3 2h4v12H3zM9 2h4v12H9z';
const players = new WeakMap();

class RingPlayer {
  constructor(root) {
    this.figure = root.querySelector('figure');
    const find = (selector) => this.figure.querySelector(selector);
    Object.assign(this, { stage: find('.stage'), svg: find('.stage svg'), slider: find('input'), output: find('output'), live: find('.live'), playButton: find('[data-do=play]') });
    this.at = 0;
    this.playing = false;
    this.listen(find);
    this.watch = new ResizeObserver(() => this.redraw());
    this.watch.observe(this.figure);
  }

  listen(find) {
    this.playButton.onclick = () => this.toggle();
    find('[data-do=back]').onclick = () => this.step(-1);
    find('[data-do=step]').onclick = () => this.step(1);
    find('[data-do=export]').onclick = () => this.save();
    this.slider.oninput = () => { this.pause(); this.goTo(this.model.stops[Number(this.slider.value)].at); };
    this.slider.onchange = () => this.tell();
    this.stage.onkeydown = (event) => this.onArrow(event);
    this.onSpace = (event) => this.pressed(event);
    document.addEventListener('keydown', this.onSpace);
  }

  show(model) {
    const text = JSON.stringify(model);
    if (text !== this.text) this.load(model, text);
    this.redraw();
  }

  load(model, text) {
    Object.assign(this, { model, text });
    this.pause();
    this.at = model.start === 'end' ? 1 : 0;
    this.svg.setAttribute('aria-label', model.alt);
    this.stage.setAttribute('aria-label', 'Left and right step from arrival to arrival');
    this.slider.max = model.stops.length - 1;
    this.figure.dataset.present = model.present;
    this.figure.dataset.controls = true;
  }

  redraw() {
    const width = this.figure.clientWidth;
    if (!this.model || !width) return;
    this.layout = layOut(this.model, width);
    this.style = readStyle(this.figure);
    this.svg.setAttribute('viewBox', `0 0 ${width} ${Math.ceil(this.layout.height)}`);
    this.draw();
  }

  draw() {
    if (!this.layout) return;
    this.svg.innerHTML = drawFigure(this.model, this.layout, this.style, this.at);
    const index = this.passed();
    const { stops } = this.model;
    this.slider.value = index;
    this.slider.style.setProperty('--done', index / Math.max(1, stops.length - 1));
    const words = `${stops[index].text} of ${stops[stops.length - 1].text}`;
    this.slider.setAttribute('aria-valuetext', words);
    this.output.textContent = words;
    this.figure.dataset.stop = index;
  }

  // The last stop at or before now.
  passed() {
    return this.model.stops.filter((stop) => stop.at <= this.at + AT_ONCE).length - 1;
  }

  goTo(at) {
    this.at = Math.max(0, Math.min(1, at));
    this.draw();
  }

  step(by) {
    this.pause();
    const { stops } = this.model;
    const index = this.passed();
    const between = by < 0 && this.at > stops[index].at + AT_ONCE ? 1 : 0;
    this.goTo(stops[Math.max(0, Math.min(stops.length - 1, index + by + between))].at);
    this.tell();
  }

  toggle() {
    if (this.playing) return this.pause();
    if (this.at >= 1) this.goTo(0);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      this.goTo(1);
      return this.tell();
    }
    this.playing = true;
    this.label();
    this.run();
  }

  run() {
    const rounds = Math.max(...this.model.courses.map((course) => course.rounds.length));
    const whole = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, rounds * ROUND_MS));
    let last = performance.now();
    const frame = (now) => {
      if (!this.playing) return;
      this.goTo(this.at + (now - last) / whole);
      last = now;
      if (this.at >= 1 || !this.figure.isConnected) return this.pause();
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
    this.playButton.querySelector('path').setAttribute('d', this.playing ? PAUSE : PLAY);
    this.playButton.querySelector('span').textContent = this.playing ? 'Pause' : 'Play';
    this.figure.dataset.atRest = !this.playing;
  }

  tell() {
    const rounds = this.model.courses.map((course) => `${course.title}: ${roundsDone(course, this.at)} of ${course.rounds.length} rounds`);
    this.live.textContent = `${this.output.textContent}. ${rounds.join(', ')}.`;
  }

  onArrow(event) {
    const { length } = this.model.stops;
    const act = { ArrowRight: 1, ArrowLeft: -1, Home: -length, End: length }[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.step(act);
  }

  pressed(event) {
    if (event.code !== 'Space' || event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.figure.isConnected || !this.figure.clientWidth || wantsSpace(event.composedPath()[0], this.slider)) return;
    event.preventDefault();
    this.toggle();
  }

  save() {
    const { width, height } = this.layout;
    const open = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.ceil(height)}" viewBox="0 0 ${width} ${Math.ceil(height)}" font-family="Source Sans 3, Source Sans, sans-serif">`;
    const svg = `${open}<rect width="100%" height="100%" fill="${this.style.ground}"/>${this.svg.innerHTML}</svg>`;
    Object.assign(document.createElement('a'), { download: `${this.model.name}.svg`, href: URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' })) }).click();
  }

  end() {
    this.playing = false;
    this.watch.disconnect();
    document.removeEventListener('keydown', this.onSpace);
  }
}

// Whether the element under the focus has its own use for the space bar.
function wantsSpace(element, ownSlider) {
  if (!element || element === ownSlider || !element.closest) return false;
  return element.isContentEditable || Boolean(element.closest('input, textarea, select, button, summary, a[href], [role=slider], [role=radio], [role=tab], [role=option], [role=combobox]'));
}

export default function ({ data, parentElement }) {
  if (!players.has(parentElement)) players.set(parentElement, new RingPlayer(parentElement));
  players.get(parentElement).show(data);
  return () => {
    players.get(parentElement)?.end();
    players.delete(parentElement);
  };
}
