// Two pens with one vocabulary, so that the figure on screen and the figure saved are the same drawing.

function canvasPen(context, style) {
  return {
    rect(x, y, w, h, { fill, stroke, line = 1, radius = 0 }) {
      context.beginPath();
      radius ? context.roundRect(x, y, w, h, radius) : context.rect(x, y, w, h);
      if (fill) { context.fillStyle = fill === "idle" ? style.hatchOn(context) : fill; context.fill(); }
      if (stroke) { context.strokeStyle = stroke; context.lineWidth = line; context.stroke(); }
    },
    text(x, y, words, { fill, size, weight = 400, anchor = "start" }) {
      context.font = `${weight} ${size}px ${style.font}`;
      context.fillStyle = fill;
      context.textAlign = anchor === "middle" ? "center" : anchor;
      context.fillText(words, x, y);
    },
    line(points, { stroke, line }) {
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      Object.assign(context, { strokeStyle: stroke, lineWidth: line, lineJoin: "round", lineCap: "round" });
      context.stroke();
    },
    path(points, fill) {
      context.beginPath();
      points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
      context.closePath();
      context.fillStyle = fill;
      context.fill();
    },
  };
}

function svgPen(style) {
  const parts = [];
  const clean = (words) => String(words).replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);
  return {
    parts,
    rect(x, y, w, h, { fill = "none", stroke = "none", line = 1, radius = 0 }) {
      const paint = fill === "idle" ? "url(#idle)" : fill;
      parts.push(`<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="${radius}" fill="${paint}" stroke="${stroke}" stroke-width="${line}"/>`);
    },
    text(x, y, words, { fill, size, weight = 400, anchor = "start" }) {
      parts.push(`<text x="${x}" y="${y}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" fill="${fill}">${clean(words)}</text>`);
    },
    line(points, { stroke, line }) {
      if (points.length) parts.push(`<path d="M${points.map((point) => point.join(" ")).join("L")}" fill="none" stroke="${stroke}" stroke-width="${line}" stroke-linejoin="round" stroke-linecap="round"/>`);
    },
    path(points, fill) {
      parts.push(`<path d="M${points.map((point) => point.join(" ")).join("L")}z" fill="${fill}"/>`);
    },
    document(width, height) {
      const tile = style.hatchTile;
      const lines = `<path d="M0 ${tile}L${tile} 0M${-tile / 2} ${tile / 2}L${tile / 2} ${-tile / 2}M${tile / 2} ${tile * 1.5}L${tile * 1.5} ${tile / 2}" stroke="${style.hatch}" stroke-width="${style.hatchLine}"/>`;
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Source Sans 3, Source Sans, sans-serif">` +
        `<defs><pattern id="idle" width="${tile}" height="${tile}" patternUnits="userSpaceOnUse"><rect width="${tile}" height="${tile}" fill="${style.hatchGround}"/>${lines}</pattern></defs>` +
        `<rect width="100%" height="100%" fill="${style.ground}"/>${parts.join("")}</svg>`;
    },
  };
}

// Colours as the page has them now: Streamlit's theme, the app's own properties, and fills mixed for 7:1 numbers.
function readStyle(figure, layout) {
  const css = getComputedStyle(figure);
  const read = (name) => css.getPropertyValue(name).trim();
  const ground = read("--st-background-color");
  const dark = luminance(ground) < 0.2;
  const solids = read("--st-chart-categorical-colors").split(",").map((colour) => colour.trim());
  const fills = solids.map((solid, i) => mix(solid, dark ? ground : "#ffffff", dark ? (i % 4 === 3 ? 0.26 : 0.34) : 0.42));
  const style = {
    ground, solids, fills, font: css.fontFamily, faint: dark ? 0.5 : 0.35,
    text: read("--st-text-color"), primary: read("--st-primary-color"), off: read("--st-red-text-color"),
    muted: read("--muted"), axis: read("--axis"), hatch: read("--hatch"), hatchGround: read("--hatch-ground"), compute: read("--compute"),
    edge: (rank) => (dark ? solids[rank % solids.length] : read("--st-text-color")),
    hatchTile: layout.size.hatch, hatchLine: layout.size.line * 0.87,
  };
  style.fillOf = (rank, chunk) => (chunk % 2 ? mix(fills[rank % fills.length], ground, 0.5) : fills[rank % fills.length]);
  style.hatchOn = hatchPattern(style);
  return style;
}

function hatchPattern(style) {
  let pattern = null;
  return (context) => {
    if (pattern) return pattern;
    const scale = Math.round(window.devicePixelRatio * 2);
    const tile = style.hatchTile;
    const canvas = Object.assign(document.createElement("canvas"), { width: tile * scale, height: tile * scale });
    const ink = canvas.getContext("2d");
    ink.scale(scale, scale);
    ink.fillStyle = style.hatchGround;
    ink.fillRect(0, 0, tile, tile);
    ink.strokeStyle = style.hatch;
    ink.lineWidth = style.hatchLine;
    for (const shift of [-tile, 0, tile]) {
      ink.moveTo(shift - 1, tile + 1);
      ink.lineTo(shift + tile + 1, -1);
    }
    ink.stroke();
    pattern = context.createPattern(canvas, "repeat");
    pattern.setTransform(new DOMMatrix().scale(1 / scale));
    return pattern;
  };
}

const channels = (colour) => {
  const numbers = colour.startsWith("#") ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)) : colour.match(/[\d.]+/g).map(Number);
  return numbers.slice(0, 3);
};
const luminance = (colour) => channels(colour).reduce((sum, c, i) => sum + (c / 255) ** 2.2 * [0.2126, 0.7152, 0.0722][i], 0);
const mix = (top, below, share) => `rgb(${channels(top).map((c, i) => Math.round(c * share + channels(below)[i] * (1 - share))).join(",")})`;
