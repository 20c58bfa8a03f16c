// Where everything stands, in CSS pixels: the speed and its curve, the ranks, and the four levels of one clock.

const SIZES = {
  laptop: { left: 330, gap: 50, big: 46, word: 14.5, axis: 13.5, title: 15, curve: 128, ring: 190, block: 36, bar: 40, pitch: 106, line: 1.5 },
  present: { left: 560, gap: 70, big: 84, word: 26, axis: 24, title: 26, curve: 170, ring: 250, block: 48, bar: 56, pitch: 136, line: 2.5 },
  low: { left: 560, gap: 50, big: 60, word: 26, axis: 24, title: 26, curve: 140, ring: 0, bar: 38, pitch: 98, line: 2.5 },
  phone: { left: 0, gap: 26, big: 40, word: 15, axis: 14, title: 15, curve: 150, ring: 210, block: 44, bar: 40, pitch: 104, line: 1.5 },
};

const LOW_PX = [1400, 1000]; // of a projected figure and its wall; either less has no height for the ring: its words alone

function layJourney(model, trip, width) {
  const phone = !model.present && width < 700;
  const low = width < LOW_PX[0] || wallHeight() < LOW_PX[1];
  const size = SIZES[model.present ? (low ? 'low' : 'present') : phone ? 'phone' : 'laptop'];
  const side = phone ? width : size.left;
  const head = size.big * 0.86;
  const room = size.word * (phone ? 7.8 : 6.4);
  const curve = { left: size.word, top: head + size.word * 2.4, right: side - room, bottom: head + size.word * 2.4 + size.curve };
  const under = curve.bottom + size.axis * 3.2;
  const levels = trip.rounds ? 4 : 2;
  const rows = Array.from({ length: levels }, (_, i) => (phone ? under + size.gap : 0) + size.word + i * size.pitch);
  const bottom = rows[levels - 1] + size.word * 0.8 + size.bar + size.axis * 1.6;
  const ring = { left: 0, top: phone ? bottom + size.gap : under + size.word, width: side };
  const ends = ring.top + (size.ring || size.word * 1.4);
  const [left, right] = phone ? [0, width] : [side + size.gap, width];
  return { size, phone, width, side, head, curve, rows, ring, left, right, height: Math.max(bottom, ends), x: (share) => left + share * (right - left) };
}
