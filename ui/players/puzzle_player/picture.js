// What the ranks hold, a small block a rank: whole, a share of its columns or of its rows, a part of every value.

const BLOCK = { width: 26, height: 22, gap: 5 };

function rankBlocks(held, ranks, theme, scale) {
  const pen = svgPen(theme);
  const { width, height, gap } = BLOCK;
  for (let rank = 0; rank < ranks; rank++) {
    const left = 1 + rank * (width + gap);
    pen.rect(left, 1, width, height, { fill: theme.ground });
    const whole = held === 'whole' || held === 'parts';
    for (const [x, y, w, h, opacity = 1] of shares(held, rank, ranks)) pen.rect(left + x * width, 1 + y * height, w * width, h * height, { fill: whole ? theme.fill(rank) : theme.solid(rank), opacity });
    if (held === 'parts') pen.text(left + width / 2, height * 0.78, '+', { size: 15, weight: 600, fill: theme.text, anchor: 'middle' });
    pen.rect(left, 1, width, height, { stroke: theme.text, line: 1.3, radius: 2 });
  }
  const box = [2 + ranks * (width + gap) - gap, height + 2];
  return `<svg width="${box[0] * scale}" height="${box[1] * scale}" viewBox="0 0 ${box[0]} ${box[1]}" aria-hidden="true">${pen.parts.join('')}</svg>`;
}

// Of a rank's block, what is filled: left, top, width and height, as shares.
function shares(held, rank, ranks) {
  const one = 1 / ranks;
  if (held === 'features') return [[rank * one, 0, one, 1]];
  if (held === 'tokens') return [[0, rank * one, 1, one]];
  if (held === 'experts') return [0, 1, 2].map((row) => [0, ((rank + row * 3) % 8) / 8, 1, 1 / 8]);
  return [[0, 0, 1, 1, held === 'parts' ? 0.45 : 1]];
}
