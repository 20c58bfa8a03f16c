// Where everything stands, in CSS pixels: the courses side by side, one stopwatch under all of them.

const MEASURES = {
  laptop: { course: 262, block: 54, title: 16, word: 14.5, axis: 13.5, gap: 24, row: 30, bar: 20, label: 84, total: 78, line: 1.5 },
  present: { course: 298, block: 62, title: 30, word: 26, axis: 24, gap: 16, row: 40, bar: 28, label: 150, total: 150, line: 2.5 },
  large: { course: 372, block: 112, title: 16, word: 14.5, axis: 13.5, gap: 24, row: 26, bar: 14, label: 84, total: 78, line: 1.5 },
  presentLarge: { course: 520, block: 170, title: 30, word: 26, axis: 24, gap: 16, row: 40, bar: 22, label: 150, total: 150, line: 2.5 },
  phoneLarge: { course: 430, block: 96, title: 16, word: 15, axis: 14, gap: 20, row: 46, bar: 16, label: 0, total: 0, line: 1.5 },
  phone: { course: 218, block: 48, title: 16, word: 15, axis: 14, gap: 20, row: 46, bar: 20, label: 0, total: 0, line: 1.5 },
};

const LOW = 900; // px; a wall lower than this has lower courses

function layOut(model, width) {
  const phone = !model.present && width < 600;
  const large = model.courses[0].numbers.length > 0;
  const size = { ...MEASURES[model.present ? (large ? 'presentLarge' : 'present') : phone ? (large ? 'phoneLarge' : 'phone') : large ? 'large' : 'laptop'] };
  if (model.present && wallHeight() < LOW) Object.assign(size, large ? { course: 312, block: 92 } : { course: 202, block: 46, row: 32, bar: 24, gap: 8 });
  const across = phone ? 1 : model.courses.length;
  const each = (width - (across - 1) * size.gap) / across;
  const courses = model.courses.map((course, i) => layCourse(course, size, (i % across) * (each + size.gap), Math.floor(i / across) * (size.course + size.gap), each));
  const top = Math.ceil(model.courses.length / across) * (size.course + size.gap) + size.word;
  const left = size.label;
  const span = width - size.label - size.total;
  const rows = top + size.word * 1.1;
  const bottom = rows + model.courses.length * size.row;
  return { size, phone, width, courses, top, rows, left, bottom, height: bottom + size.axis * 1.9, x: (at) => left + at * span };
}

// The ranks of one course on an ellipse, r0 at the top, clockwise.
function layCourse(course, size, left, top, width) {
  const head = size.title * 1.5 + size.word * 1.5;
  const block = size.block * (course.ranks > 4 ? 0.8 : 1);
  const ry = (size.course - head - block) / 2 - 2;
  const rx = Math.min((width - block) / 2 - size.word * (course.slow_rank === null ? 2 : 3.6), ry * 1.7);
  const centre = { x: left + width / 2, y: top + head + block / 2 + ry + 2 };
  const places = Array.from({ length: course.ranks }, (_, rank) => {
    const angle = (rank / course.ranks - 0.25) * 2 * Math.PI;
    return { x: centre.x + rx * Math.cos(angle), y: centre.y + ry * Math.sin(angle), side: Math.cos(angle) };
  });
  return { left, top, block, places };
}

// The way of a message from the edge of one block to the edge of another, keeping to its right.
function wayOf(course, message) {
  const [from, to] = [course.places[message.source], course.places[message.target]];
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  const aside = { x: (-dy / length) * course.block * 0.1, y: (dx / length) * course.block * 0.1 };
  const edge = ((course.block / 2 + 4) * length) / Math.max(Math.abs(dx), Math.abs(dy));
  const point = (along) => [from.x + aside.x + (dx / length) * along, from.y + aside.y + (dy / length) * along];
  return { start: point(edge), at: (share) => point(edge + share * (length - 2 * edge - course.block * 0.12)) };
}
