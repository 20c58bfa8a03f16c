// The race player: the queues and caches as far as the clock has come, and the numbers of the last stop.

// Where the lanes stand, in CSS pixels: a name, two strips over one axis of time, and the numbers of the moment.
const RACE = {
  laptop: { name: 218, label: 66, numbers: 214, title: 15, word: 14, axis: 13.5, strip: 37, gap: 5, lane: 106, line: 1.5 },
  present: { name: 400, label: 130, numbers: 420, title: 28, word: 24, axis: 24, strip: 42, gap: 6, lane: 124, line: 2.5 },
  phone: { name: 0, label: 62, numbers: 0, title: 16, word: 15, axis: 14, strip: 30, gap: 5, lane: 214, line: 1.5 },
};

function layRace(model, width) {
  const phone = !model.present && width < 700;
  const size = RACE[model.present ? 'present' : phone ? 'phone' : 'laptop'];
  const left = size.name + size.label;
  const right = width - (size.numbers ? size.numbers + 18 : 0);
  const head = phone ? size.title * 4 : 0;
  const lanes = model.lanes.map((_, i) => ({ top: i * size.lane + 4, strips: i * size.lane + head + 4 }));
  const bottom = lanes.at(-1).strips + 2 * size.strip + size.gap;
  return { size, phone, width, left, right, lanes, bottom, height: Math.max(bottom + size.axis * 1.9, phone ? model.lanes.length * size.lane + size.axis * 2.4 : 0), x: (share) => left + share * (right - left) };
}

const RACE_MS = 14000;

class Race extends SvgPlayer {
  load() {
    this.stops = this.model.times.map((_, i) => i / (this.model.times.length - 1));
    this.lasts = RACE_MS;
    super.load();
  }

  layOut(width) {
    return layRace(this.model, width);
  }

  drawn() {
    const pen = svgPen(this.theme);
    this.model.lanes.forEach((lane, i) => this.drawLane(pen, lane, this.layout.lanes[i], i));
    this.drawAxis(pen);
    return pen;
  }

  drawLane(pen, lane, place, i) {
    const { theme, layout, model } = this;
    const { size, phone, width } = layout;
    const over = this.at >= 1 - AT_ONCE;
    if (i) pen.line([[0, place.top - 10], [width, place.top - 10]], { stroke: theme.hairline, line: 1 });
    pen.text(0, place.top + size.title, lane.title, { size: size.title, weight: 600, fill: theme.text });
    const said = { size: size.word, fill: theme.muted };
    pen.text(0, place.top + size.title + size.word * 1.35, lane.detail, said);
    const under = [over && lane.verdict, lane.named && model.words.named].filter(Boolean);
    const bold = over ? { fill: theme.text, weight: lane.first ? 700 : 400 } : {};
    pen.text(0, place.top + size.title + size.word * 2.7, under.join(', '), { ...said, ...bold });
    const middle = place.strips + size.strip + size.gap;
    this.drawStrip(pen, lane.waiting.map((count) => count / Math.max(1, model.mostWaiting)), place.strips, theme.text, model.words.waiting);
    this.drawStrip(pen, lane.fill, middle, theme.compute, model.words.cache);
    this.drawNumbers(pen, lane.standings[this.index], phone ? [0, middle + size.strip + size.word * 1.5] : [layout.right + 18, place.top + size.word], i);
  }

  // A share of its height, sample by sample, as far as the clock has come.
  drawStrip(pen, shares, top, fill, name) {
    const { layout, theme } = this;
    const { size, x } = layout;
    const bottom = top + size.strip;
    pen.text(layout.left - 8, bottom - size.strip / 2 + size.axis * 0.35, name, { size: size.axis, fill: theme.muted, anchor: 'end' });
    pen.rect(x(0), top, x(1) - x(0), size.strip, { fill: theme.hatchGround });
    const last = Math.round(this.at * (shares.length - 1));
    const points = shares.slice(0, last + 1).map((share, k) => [x(k / (shares.length - 1)), bottom - share * size.strip]);
    if (last) pen.shape([[x(0), bottom], ...points, [points.at(-1)[0], bottom]], fill);
    pen.line([[x(0), bottom], [x(1), bottom]], { stroke: theme.axis, line: 1 });
    pen.line([[x(this.at), top], [x(this.at), bottom]], { stroke: theme.text, line: size.line });
  }

  drawNumbers(pen, standing, [left, top]) {
    const { layout, theme, model } = this;
    const { size, phone, width } = layout;
    const shown = model.present ? ['waiting', 'first', 'between', 'done'] : ['waiting', 'cache', 'first', 'between', 'done'];
    const rows = shown.map((name) => filled(model.words[`now_${name}`], standing));
    rows.forEach((words, k) => {
      const [x, y] = phone ? [left + (k % 2) * (width / 2), top + Math.floor(k / 2) * size.word * 1.4] : [left, top + k * size.word * 1.2];
      pen.text(x, y, words, { size: size.word, fill: theme.text });
    });
  }

  drawAxis(pen) {
    const { layout, theme, model } = this;
    const { size, x, bottom } = layout;
    const base = layout.phone ? layout.height - size.axis * 0.5 : bottom + size.axis * 1.5;
    pen.text(x(0), base, model.times[0], { size: size.axis, fill: theme.muted });
    pen.text(x(1), base, model.times.at(-1), { size: size.axis, fill: theme.muted, anchor: 'end' });
  }

  position() {
    const { times, words } = this.model;
    return filled(words.position, { now: times[this.index], all: times.at(-1) });
  }

  spoken() {
    const { lanes, words } = this.model;
    const told = lanes.map((lane) => filled(words.lane, { title: lane.title, ...lane.standings[this.index] }));
    const over = this.at >= 1 - AT_ONCE ? lanes.map((lane) => `${lane.title}: ${lane.verdict}.`) : [];
    return [`${this.position()}.`, ...told, ...over].join(' ');
  }
}

export default mountAs(Race);
