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
