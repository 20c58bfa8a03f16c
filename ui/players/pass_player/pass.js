// A rank on a phone. A chunk goes across number by number, and then on to the next rank: that is what n costs.

const senders = new WeakMap();
const LOST_MS = 5000; // a message that changed nothing in that time may be sent again

class Pass {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.live = liveIn(this.find('figure'));
    this.find('.send').onclick = () => this.send();
    this.at = '';
  }

  // The same payload again leaves what was tapped as it stands.
  show(data) {
    this.model = data;
    this.words = data.words;
    const at = `${data.run} ${data.round} ${data.chunk}`;
    if (at !== this.at) this.begin(at);
    this.draw();
  }

  begin(at) {
    const { chunk, wait_s: waits } = this.model;
    this.at = at;
    clearTimeout(this.again);
    this.tapped = new Set();
    this.sent = false;
    this.until = performance.now() + 1000 * waits;
    if (chunk !== null && waits) this.count();
    this.live.textContent = this.task();
  }

  // Once a second while it waits, then once more: the numbers may be tapped.
  count() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.draw();
      if (this.left) this.count();
      else this.live.textContent = this.task();
    }, Math.min(1000, Math.max(0, this.until - performance.now())) + 20);
  }

  get left() {
    return Math.max(0, Math.ceil((this.until - performance.now()) / 1000));
  }

  get mine() {
    return this.model.chunk !== null && !this.sent;
  }

  get fields() {
    const { rank, ranks, round, rounds, chunk, came } = this.model;
    return { rank, ranks, round: Math.min(round + 1, rounds), rounds, chunk, came, left: this.left, next: (rank + 1) % ranks, last: (rank + ranks - 1) % ranks };
  }

  task() {
    const { words, model } = this;
    if (model.round === model.rounds && !this.mine && model.parts.every((parts) => parts === model.ranks)) return words.done;
    if (!this.mine) return filled(words.waits, this.fields);
    return filled(this.left ? words.slow : words.tap, this.fields);
  }

  draw() {
    const { model, words } = this;
    this.find('.who').textContent = filled(words.who, this.fields);
    const came = model.came === null ? '' : filled(model.adds ? words.added : words.replaced, this.fields);
    this.find('.told').textContent = [filled(words.round, this.fields), came].filter(Boolean).join(' ');
    this.find('.task').textContent = this.task();
    this.drawNumbers();
    const button = this.find('.send');
    button.textContent = model.chunk === null ? words.nothing : filled(this.sent ? words.sent : words.send, this.fields);
    button.disabled = !this.mine || this.left > 0 || this.tapped.size < model.held[model.chunk].length;
    this.find('.holds').textContent = words.holds;
    this.drawChunks();
  }

  drawNumbers() {
    const { model, words } = this;
    const numbers = this.mine && !this.left ? model.held[model.chunk] : [];
    const place = this.find('.numbers');
    if (place.children.length !== numbers.length || place.dataset.at !== this.at) {
      place.dataset.at = this.at;
      place.replaceChildren(...numbers.map((number, i) => made('button', { type: 'button', onclick: () => this.tap(i) })));
    }
    [...place.children].forEach((button, i) => {
      const tapped = this.tapped.has(i);
      button.textContent = numbers[i];
      button.ariaLabel = filled(words.number, { number: numbers[i] });
      button.ariaPressed = tapped;
    });
  }

  drawChunks() {
    const { model, words } = this;
    this.find('.chunks').dataset.long = model.held[0].length > 2;
    this.find('.chunks').replaceChildren(...model.held.map((numbers, chunk) => {
      const item = made('li');
      const whole = model.parts[chunk] === model.ranks;
      Object.assign(item.dataset, { now: this.mine && chunk === model.chunk, whole });
      const of = whole ? words.whole : filled(words.parts, { parts: model.parts[chunk], ranks: model.ranks });
      item.append(made('b', { textContent: `${filled(words.chunk, { chunk })} · ${of}` }), numbers.join(' · '));
      return item;
    }));
  }

  tap(place) {
    this.tapped.add(place);
    this.draw();
    const send = this.find('.send');
    (send.disabled ? this.find('.numbers').children[(place + 1) % this.find('.numbers').children.length] : send).focus();
  }

  send() {
    if (this.find('.send').disabled) return;
    this.sent = true;
    this.draw();
    this.live.textContent = this.find('.send').textContent;
    senders.get(this.root)('sent', { run: this.model.run, round: this.model.round });
    const { at } = this;
    this.again = setTimeout(() => {
      if (at !== this.at) return;
      this.sent = false;
      this.draw();
    }, LOST_MS);
  }

  leave() {
    clearTimeout(this.timer);
    clearTimeout(this.again);
  }
}

const mount = mountAs(Pass);

export default (component) => {
  senders.set(component.parentElement, component.setTriggerValue);
  return mount(component);
};
