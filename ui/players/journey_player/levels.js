// Four levels of one clock, each a part of the one above it: the token, a layer, a sum, a round on the link.

// Where the clock stands on each level. After the first layer the lower levels rest: the other layers are like it.
function standing(trip, time) {
  const layer = trip.attention + trip.mlp + (trip.rounds ? 2 * trip.sum : 0);
  const inLayer = Math.min(time, layer);
  const second = trip.attention + trip.sum + trip.mlp;
  const which = inLayer > second * (1 + 1e-9) ? 1 : 0;
  const begins = which ? second : trip.attention;
  const inSum = Math.max(0, Math.min(trip.sum, inLayer - begins));
  const hop = trip.latency + trip.bandwidth;
  const round = Math.max(0, Math.min(trip.rounds - 1, Math.ceil((inSum - trip.launch) / hop - 1e-6) - 1));
  const inRound = Math.max(0, Math.min(hop, inSum - trip.launch - round * hop));
  return { layer, inLayer, begins, inSum, hop, round, inRound };
}

function drawLevels(pen, player, style) {
  const { model, layout, trip: now, time } = player;
  const { size, rows } = layout;
  const at = standing(now, time);
  const untouched = time === 0;
  const texts = { ...now.told, layers: model.layers, gpus: model.choices.tp[player.chosen.tp], number: at.round + 1 };
  const levels = [
    { name: 'token', whole: now.total, now: time, ends: now.told.total, parts: tokenParts(now, model.layers, at.layer, model.words, style), from: [0, at.layer / now.total] },
    { name: 'layer', whole: at.layer, now: at.inLayer, ends: now.told.layer, parts: layerParts(now, texts.gpus, model.words, style), from: [at.begins / at.layer, (at.begins + now.sum) / at.layer] },
    { name: 'sum', whole: now.sum, now: at.inSum, ends: now.told.sum, parts: sumParts(now, model.words, style), from: [(now.launch + at.round * at.hop) / now.sum, (now.launch + (at.round + 1) * at.hop) / now.sum] },
    { name: 'round', whole: at.hop, now: at.inRound, ends: now.told.hop, parts: roundParts(now, model.words, style) },
  ].slice(0, rows.length);
  levels.forEach((level, i) => {
    const top = rows[i] + size.word * 0.8;
    if (rows[i + 1]) drawFunnel(pen, layout, level.from, top + size.bar, rows[i + 1] - size.word * 1.1, style);
  });
  levels.forEach((level, i) => drawLevel(pen, layout, level, rows[i], untouched, filled(model.words[`level_${level.name}`], texts), style));
}

function drawFunnel(pen, { x }, [from, to], top, bottom, style) {
  const tint = mix(style.axis, style.ground, style.dark ? 0.22 : 0.16);
  pen.shape([[x(from), top + 1], [Math.max(x(to), x(from) + 1), top + 1], [x(1), bottom], [x(0), bottom]], tint);
}

function drawLevel(pen, layout, level, base, untouched, name, style) {
  const { size, x } = layout;
  const top = base + size.word * 0.8;
  const head = x(level.whole ? Math.min(1, level.now / level.whole) : 0);
  pen.text(x(0), base, name, { size: size.title, weight: 600, fill: style.text });
  pen.text(x(1), base, level.ends, { size: size.title, weight: 600, fill: style.text, anchor: 'end' });
  for (const part of level.parts) {
    const [left, right] = [x(part.from / level.whole), x(part.to / level.whole)];
    const [y, height] = [top + size.bar * (part.lane ?? 0), size.bar * (part.height ?? 1)];
    const cut = untouched ? right : Math.min(right, Math.max(left, head));
    const gap = part.gap && right - left > 4 ? 1.5 : 0;
    const edge = right - left > 3 ? { stroke: part.stroke ?? 'none', line: 1 } : {};
    pen.rect(left + gap, y, cut - left - gap, height, { fill: part.fill, ...edge });
    if (right > cut) pen.rect(Math.max(cut, left + gap), y, right - Math.max(cut, left + gap), height, { fill: part.fill, opacity: 0.4, ...edge });
    const wide = (part.text?.length ?? 0) * size.word * 0.56;
    if (part.text && right - left > wide) {
      const [middle, line] = [(left + right) / 2, top + size.bar / 2 + size.word * 0.35];
      if (part.pad) pen.rect(middle - wide / 2 - 4, line - size.word, wide + 8, size.word * 1.35, { fill: style.ground, radius: 3 });
      pen.text(middle, line, part.text, { size: size.word, weight: 600, fill: part.ink ?? style.text, anchor: 'middle' });
    } else if (part.under) pen.text(part.under === 'end' ? x(1) : x(0), top + size.bar + size.axis * 1.3, part.text, { size: size.axis, weight: 600, fill: part.underInk, anchor: part.under });
  }
  if (untouched) return;
  const tip = size.word * 0.42;
  pen.shape([[head - tip, top - tip * 1.3], [head + tip, top - tip * 1.3], [head, top]], style.text);
  pen.line([[head, top], [head, top + size.bar]], { stroke: style.text, line: size.line * 1.6 });
}

const sumPart = (from, trip, style, gap) => {
  const waits = trip.launch + trip.rounds * trip.latency;
  return [{ from, to: from + waits, fill: style.latency, gap }, { from: from + waits, to: from + trip.sum, fill: style.bandwidth }];
};

function tokenParts(trip, layers, layer, words, style) {
  const compute = { fill: style.compute, stroke: style.axis };
  const one = (start) => (trip.rounds
    ? [{ from: start, to: start + trip.attention, ...compute },
      ...sumPart(start + trip.attention, trip, style),
      { from: start + trip.attention + trip.sum, to: start + layer - trip.sum, ...compute }, ...sumPart(start + layer - trip.sum, trip, style)]
    : [{ from: start, to: start + layer, ...compute }]);
  return [...Array.from({ length: layers }, (_, k) => one(k * layer)).flat(), { from: layers * layer, to: trip.total, ...compute, text: words.head }];
}

// Compute: a lane a rank, for all of them read their own part at once. A sum stops every lane.
function layerParts(trip, ranks, words, style) {
  const lanes = (from, to) => Array.from({ length: ranks }, (_, rank) => ({ from, to, lane: rank / ranks, height: 1 / ranks, fill: style.fill(rank), stroke: style.edge(rank) }));
  const mlp = trip.attention + (trip.rounds ? trip.sum : 0);
  const end = mlp + trip.mlp;
  const parts = [...lanes(0, trip.attention), ...lanes(mlp, end)];
  const said = [{ from: 0, to: trip.attention, text: words.attention, fill: 'none', pad: true }, { from: mlp, to: end, text: words.mlp, fill: 'none', pad: true }];
  return trip.rounds ? [...parts, ...said, ...sumPart(trip.attention, trip, style, true), ...sumPart(end, trip, style, true)] : [...parts, ...said];
}

function sumParts(trip, words, style) {
  const hop = trip.latency + trip.bandwidth;
  const rounds = Array.from({ length: trip.rounds }, (_, k) => trip.launch + k * hop);
  return [
    ...(trip.launch ? [{ from: 0, to: trip.launch, fill: style.latency, text: words.launch, ink: style.dark ? style.ground : '#ffffff' }] : []),
    ...rounds.flatMap((from) => [{ from, to: from + trip.latency, fill: style.latency, gap: true }, { from: from + trip.latency, to: from + hop, fill: style.bandwidth }]),
  ];
}

function roundParts(trip, words, style) {
  const onFill = style.dark ? style.ground : '#ffffff';
  return [
    { from: 0, to: trip.latency, fill: style.latency, text: filled(words.waits, trip.told), ink: onFill, under: 'start', underInk: style.latencyText },
    { from: trip.latency, to: trip.latency + trip.bandwidth, fill: style.bandwidth, text: filled(words.pours, trip.told), pad: true, under: 'end', underInk: style.bandwidthText },
  ];
}
