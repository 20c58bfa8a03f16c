// The pace player: it has no picture of its own. A step is a letter of the first row; the second row has its own pace, which
// the page's slider sets.

const HEARD_MS = 250; // after a slider has come to rest its pace is heard

class PacePlayer extends Player {
  constructor(root) {
    super(root);
    this.flows = true;
    this.clicks = new Clicks();
    this.onLive = ({ detail }) => this.setPace(detail);
    window.addEventListener('live', this.onLive);
  }

  addControls(controls) {
    super.addControls(controls);
    this.buttons.save.remove();
    this.sound = made('button', { type: 'button', className: 'sound', ariaPressed: 'false', onclick: () => this.toggleSound() });
    controls.append(this.sound);
  }

  read(data) {
    this.percent = data.percent;
    return { ...data, start: 'end' };
  }

  load() {
    const { letters, lasts, words, slower } = this.model;
    Object.assign(this, { lasts, stops: Array.from({ length: letters + 1 }, (_, letter) => letter / letters) });
    this.sound.textContent = words.sound;
    this.find('.slower').textContent = filled(words.slower, { times: slower });
    super.load();
  }

  // It always rests on all letters: the figure that it drives may be drawn later than itself.
  left() {
    return null;
  }

  setPace({ key, value }) {
    if (!this.model || key !== this.model.slider) return;
    this.percent = Number(value);
    this.drawNow();
    if (!this.sounds) return;
    clearTimeout(this.later);
    this.later = setTimeout(() => this.replay(), HEARD_MS);
  }

  replay() {
    this.pause();
    this.goTo(0);
    this.toggle();
  }

  get sounds() {
    return this.sound.ariaPressed === 'true';
  }

  toggleSound() {
    this.sound.ariaPressed = String(!this.sounds);
    if (!this.sounds) return this.clicks.stop();
    this.clicks.ready();
    return this.replay();
  }

  // Where nothing may move, what is heard still takes its time.
  toggle() {
    const wasPlaying = this.playing;
    super.toggle();
    if (!wasPlaying && this.sounds) this.clicks.play(this.times());
  }

  pause() {
    const isOver = this.at >= this.end;
    super.pause();
    if (!isOver) this.clicks?.stop();
  }

  // From where it stands, when each row has its letters done.
  times() {
    const { letters, lasts } = this.model, begin = this.playing ? this.at : 0;
    const done = (percent) => Array.from({ length: this.typed(percent, 1) }, (_, n) => ((n + 1) * 100) / percent / letters);
    return [100, this.percent].map((percent) => done(percent).filter((at) => at > begin).map((at) => ((at - begin) * lasts) / 1000 / this.speed));
  }

  // Letters of a row that are done, of what one process types of its own in this time.
  typed(percent, at = this.at) {
    return Math.floor((at * this.model.letters * percent) / 100 + AT_ONCE);
  }

  layOut() {
    return {};
  }

  draw() {
    const value = this.at >= this.end ? '' : String(this.at);
    for (const field of document.querySelectorAll(`.vega-bindings input[name="live_${CSS.escape(this.model.figure)}"]`)) {
      if (field.value === value) continue;
      field.value = value;
      field.dispatchEvent(new Event('input'));
    }
  }

  position() {
    const { words, measured } = this.model;
    const said = !this.percent ? words.alone : measured ? words.measured : words.position;
    return filled(said, { one: this.typed(100), two: this.typed(this.percent) });
  }

  spoken() {
    return this.position();
  }

  leave() {
    super.leave();
    clearTimeout(this.later);
    this.clicks.leave();
    window.removeEventListener('live', this.onLive);
  }
}

export default mountAs(PacePlayer);
