// The journey player: what is chosen, where its clock stands, and both of them in the address.

// How long a part is watched, in milliseconds: the first layer slowly, the others, which are like it, fast.
const WATCHED_MS = { start: 0, attention: 1100, round: 520, mlp: 1100, sum: 1200, layers: 3200, token: 500 };
const SUM_MS = 5200;

class Journey extends SvgPlayer {
  constructor(root) {
    super(root);
    this.svg = this.find('.stage svg');
    this.caption = this.find('figcaption');
    this.svg.onpointerdown = (event) => { if (this.drag(event)) this.svg.setPointerCapture(event.pointerId); };
    this.svg.onpointermove = (event) => { if (event.buttons) this.drag(event); };
    this.asked = null;
  }

  read(data) {
    return super.read({ ...data, ...JSON.parse(data.played) });
  }

  // Another model keeps what was chosen, where it has it; the first one begins as the address says.
  load() {
    const { tp, links, batch, first } = this.model.choices;
    this.asked ??= heldInAddress(this.model.param).split('~');
    const place = (options, text, otherwise) => (options.map(String).includes(text) ? options.map(String).indexOf(text) : otherwise);
    this.chosen = { tp: place(tp, this.asked[0], first[0]), link: place(links.map(([key]) => key), this.asked[1], first[1]), batch: place(batch, this.asked[2], first[2]) };
    this.label();
    this.fillChoices();
    this.take();
    this.stand(this.stops[Math.min(Number(this.asked[3]) || 0, this.stops.length - 1)]);
  }

  trip(tp, link, batch) {
    const { links, batch: batches } = this.model.choices;
    return this.model.trips[(tp * links.length + link) * batches.length + batch];
  }

  // The chosen trip and its stops: moments of its clock, spread as they are watched.
  take() {
    const { tp, link, batch } = this.chosen;
    this.now = this.trip(tp, link, batch);
    const each = Math.min(WATCHED_MS.round, SUM_MS / Math.max(1, this.now.rounds));
    let at = 0;
    this.stops = this.now.stops.map(({ moment }) => (at += moment === 'round' ? each : WATCHED_MS[moment]));
    this.lasts = this.end;
  }

  // Another choice stands at the same part of the journey.
  choose(change) {
    this.pause();
    const { moment } = this.now.stops[this.index];
    Object.assign(this.chosen, change);
    this.take();
    this.showChosen();
    const like = this.now.stops.findIndex((stop) => stop.moment === moment);
    this.stand(this.stops[Math.max(0, like)]);
    this.redraw();
    this.address();
    this.live.textContent = filled(this.model.words.chosen, this.fields());
  }

  fillChoices() {
    const { words, choices } = this.model;
    const slider = (what, options) => {
      const [row, input] = [made('div'), made('input', { type: 'range', min: 0, max: options.length - 1, step: 1 })];
      input.oninput = () => this.choose({ [what]: Number(input.value) });
      input.id = `${this.model.name}-${what}`;
      row.append(made('label', { className: 'name', textContent: words[`choice_${what}`], htmlFor: input.id }), input, made('span', { className: 'value' }));
      row.dataset.what = what;
      return row;
    };
    const links = made('fieldset');
    const pick = made('div', { className: 'pick' });
    const named = choices.links.map(([, name], link) => [name, link]);
    pick.append(...radios(`${this.model.name}-link`, named, this.chosen.link, (link) => this.choose({ link })));
    links.append(made('legend', { textContent: words.choice_link }), pick);
    this.find('.choices').replaceChildren(slider('tp', choices.tp), links, slider('batch', choices.batch));
    this.showChosen();
  }

  showChosen() {
    for (const what of ['tp', 'batch']) {
      const row = this.find(`.choices [data-what=${what}]`);
      const options = this.model.choices[what];
      const input = row.querySelector('input');
      input.value = this.chosen[what];
      input.style.setProperty('--done', this.chosen[what] / Math.max(1, options.length - 1));
      input.setAttribute('aria-valuetext', options[this.chosen[what]]);
      row.querySelector('.value').textContent = options[this.chosen[what]];
    }
    this.figure.querySelectorAll('.choices [type=radio]').forEach((radio, link) => { radio.checked = link === this.chosen.link; });
  }

  // The time on the trip's own clock: between two stops it runs evenly.
  get time() {
    const next = this.stops[this.index + 1];
    const { time } = this.now.stops[this.index];
    if (next === undefined) return time;
    const share = (this.at - this.stops[this.index]) / (next - this.stops[this.index]);
    return time + Math.max(0, share) * (this.now.stops[this.index + 1].time - time);
  }

  layOut(width) {
    return layJourney(this.model, this.now, width);
  }

  scales() {
    const { curve } = this.layout;
    const { tp } = this.model.choices;
    const most = this.trip(tp.length - 1, 0, this.chosen.batch).ideal;
    return {
      x: (i) => curve.left + ((curve.right - curve.left) * i) / Math.max(1, tp.length - 1),
      y: (rate) => curve.bottom - ((curve.bottom - curve.top) * rate) / most,
    };
  }

  // A press in the curve takes the nearest point: so many GPUs, over that link.
  drag(event) {
    const box = this.svg.getBoundingClientRect();
    const scale = this.layout.width / box.width;
    const [px, py] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const { curve } = this.layout;
    if (px < curve.left - 20 || px > curve.right + 20 || py < curve.top - 20 || py > curve.bottom + 20) return false;
    const { x, y } = this.scales();
    const { tp, links } = this.model.choices;
    const near = (values, distance) => values.map((_, i) => i).sort((a, b) => distance(a) - distance(b))[0];
    const ranks = near(tp, (i) => Math.abs(x(i) - px));
    const over = (link) => Math.abs(y(this.trip(ranks, link, this.chosen.batch).rate) - py);
    const link = ranks && over(near(links, over)) + 6 < over(this.chosen.link) ? near(links, over) : this.chosen.link;
    if (ranks !== this.chosen.tp || link !== this.chosen.link) this.choose({ tp: ranks, link });
    return true;
  }

  draw() {
    super.draw();
    this.caption.textContent = this.said();
    if (this.index !== this.shown && !this.playing) this.address();
    this.shown = this.index;
  }

  drawn() {
    const { layout, theme, model, now } = this;
    const pen = svgPen(theme);
    const { size } = layout;
    const rate = { size: size.big, weight: 600, fill: theme.text };
    pen.text(0, layout.head, now.told.rate, rate);
    pen.text(0, layout.head + size.word * 1.5, filled(model.words[`rate_${now.fits ? 'fits' : 'full'}`], this.fields()), { size: size.word, fill: theme.muted });
    drawCurve(pen, this, theme);
    drawLevels(pen, { model, layout, trip: now, time: this.time, chosen: this.chosen }, theme);
    this.drawRing(pen);
    return pen;
  }

  drawRing(pen) {
    const { layout, theme, model, now } = this;
    const program = model.programs[now.program];
    const { inSum, hop } = standing(now, this.time);
    const share = (seconds) => (now.sum ? seconds / now.sum : 0);
    const course = {
      ...program,
      title: filled(model.words[`way_${now.program.split('-')[0]}`], this.fields()),
      detail: now.rounds ? filled(model.words.rounds, { rounds: now.rounds, bytes: now.told.bytes }) : model.words.alone,
      numbers: [], names: [], slow_rank: null,
      rounds: program.rounds.map((messages, k) => ({ messages, start: share(now.launch + k * hop), latency: share(now.latency), bandwidth: share(now.bandwidth) })),
    };
    if (!layout.size.ring) {
      const lines = [[course.title, { weight: 600, fill: theme.text }], [course.detail, { fill: theme.muted }]];
      return lines.forEach(([words, look], i) => pen.text(layout.ring.left, layout.ring.top + i * layout.size.word * 1.3, words, { size: layout.size.word, ...look }));
    }
    const size = { ...layout.size, course: layout.size.ring };
    const place = layCourse(course, size, layout.ring.left, layout.ring.top, layout.ring.width);
    return drawCourse(pen, model, course, place, { size, width: layout.width }, theme, share(inSum));
  }

  // What is told: the stop that was reached, or the round that runs, which the figure shows by its number.
  get part() {
    const { stops } = this.now;
    const next = this.at > this.stops[this.index] + AT_ONCE ? stops[this.index + 1] : undefined;
    return next?.moment === 'round' ? next : stops[this.index];
  }

  fields() {
    const { choices, layers } = this.model;
    return { ...this.now.told, layers, rounds: this.now.rounds, gpus: choices.tp[this.chosen.tp], batch: choices.batch[this.chosen.batch], link: choices.links[this.chosen.link][1], number: this.part.number };
  }

  said() {
    const { moment } = this.part;
    const { words } = this.model;
    return filled((!this.now.rounds && words[`kind_${moment}_alone`]) || words[`kind_${moment}`], this.fields());
  }

  position() {
    const { stops } = this.now;
    return filled(this.model.words.position, { now: stops[this.index].text, all: stops[stops.length - 1].text });
  }

  spoken() {
    return `${this.position()}. ${this.said()}`;
  }

  // What is chosen, and where it stands: a copied address opens the same.
  address() {
    const { param, choices } = this.model;
    const { tp, link, batch } = this.chosen;
    const first = this.index === 0 && [tp, link, batch].every((place, i) => place === choices.first[i]);
    this.asked = [String(choices.tp[tp]), choices.links[link][0], String(choices.batch[batch]), String(this.index)];
    keepInAddress(param, first ? '' : this.asked.join('~'));
  }
}

export default mountAs(Journey);
