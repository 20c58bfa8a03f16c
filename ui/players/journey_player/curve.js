// Tokens a second over the number of GPUs: a line a link, the chosen one in ink, and what it would be without sums.

function drawCurve(pen, player, style) {
  const { model, layout, chosen } = player;
  const { size, curve } = layout;
  const { tp, links } = model.choices;
  const { x, y } = player.scales();
  pen.line([[curve.left, curve.bottom], [curve.right, curve.bottom]], { stroke: style.axis, line: 1 });
  tp.forEach((ranks, i) => pen.text(x(i), curve.bottom + size.axis * 1.4, ranks, { size: size.axis, fill: i === chosen.tp ? style.text : style.muted, weight: i === chosen.tp ? 700 : 400, anchor: 'middle' }));
  pen.text(curve.left, curve.bottom + size.axis * 2.8, model.words.axis, { size: size.axis, fill: style.muted });
  const free = tp.map((_, i) => [x(i), y(player.trip(i, chosen.link, chosen.batch).ideal)]);
  for (let i = 1; i < free.length; i++) dashed(pen, free[i - 1], free[i], style.axis);
  const lines = links.map(([, name], link) => ({ name, link, points: tp.map((_, i) => [x(i), y(player.trip(i, link, chosen.batch).rate)]) }));
  for (const line of lines) if (line.link !== chosen.link) pen.line(line.points, { stroke: style.axis, line: size.line });
  const { points } = lines[chosen.link];
  pen.line(points, { stroke: style.text, line: size.line * 2 });
  points.forEach(([px, py], i) => {
    const here = i === chosen.tp;
    const r = here ? size.word * 0.5 : size.word * 0.28;
    const fits = player.trip(i, chosen.link, chosen.batch).fits;
    pen.rect(px - r, py - r, 2 * r, 2 * r, { fill: fits ? style.text : style.ground, stroke: style.text, line: size.line, radius: r });
    const { rate } = player.trip(i, chosen.link, chosen.batch).told;
    if (here) return;
    pen.rect(px - rate.length * size.axis * 0.28, py - size.word * 0.5 - size.axis, rate.length * size.axis * 0.56, size.axis * 1.1, { fill: style.ground });
    pen.text(px, py - size.word * 0.6, rate, { size: size.axis, fill: style.muted, anchor: 'middle' });
  });
  drawNames(pen, [...lines.map((line) => ({ name: line.name, y: line.points.at(-1)[1], bold: line.link === chosen.link })), { name: model.words.free, y: free.at(-1)[1] }], curve, size, style);
}

// Names at the ends of their lines, pushed apart where the lines end together.
function drawNames(pen, names, curve, size, style) {
  const step = size.axis * 1.25;
  const sorted = [...names].sort((a, b) => a.y - b.y);
  let last = curve.top - step * 1.5;
  const placed = sorted.map((one) => ({ ...one, at: (last = Math.max(one.y, last + step)) }));
  const over = Math.max(0, last - curve.bottom);
  for (const one of placed) pen.text(curve.right + size.word, Math.max(curve.top - step, one.at - over) + size.axis * 0.35, one.name, { size: size.axis, weight: one.bold ? 700 : 400, fill: one.bold ? style.text : style.muted });
}

function dashed(pen, [x0, y0], [x1, y1], stroke) {
  const count = Math.max(1, Math.round(Math.hypot(x1 - x0, y1 - y0) / 9));
  for (let i = 0; i < count; i++) {
    const part = [i / count, (i + 0.5) / count];
    pen.line(part.map((share) => [x0 + (x1 - x0) * share, y0 + (y1 - y0) * share]), { stroke, line: 1.5 });
  }
}
