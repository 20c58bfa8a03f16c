// Two pens with one vocabulary, so that a figure on screen and the figure saved are the same drawing.

const INK = { fill: 'none', stroke: 'none', line: 1, radius: 0, opacity: 1 };
const TYPE = { weight: 400, anchor: 'start' };
const HATCH = { tile: 10, line: 1.3 };
const escaped = (words) => String(words).replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]);
const fixed = (number) => Number(number.toFixed(2));

function svgPen(theme, hatch = HATCH) {
  const parts = [];
  const add = (name, attributes, words = '') => {
    const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${typeof value === 'number' ? fixed(value) : escaped(value)}"`);
    parts.push(`<${name}${written.join('')}>${escaped(words)}</${name}>`);
  };
  const through = (points) => `M${points.map(([x, y]) => `${fixed(x)} ${fixed(y)}`).join('L')}`;
  return {
    parts,
    rect(x, y, width, height, ink) {
      const { fill, stroke, line, radius, opacity } = { ...INK, ...ink };
      add('rect', { x, y, width: Math.max(0, width), height: Math.max(0, height), rx: radius, fill: fill === 'idle' ? 'url(#idle)' : fill, stroke, 'stroke-width': line, opacity });
    },
    text(x, y, words, ink) {
      const { fill, size, weight, anchor } = { ...TYPE, ...ink };
      add('text', { x, y, 'font-size': size, 'font-weight': weight, 'text-anchor': anchor, fill }, words);
    },
    line(points, { stroke, line }) {
      if (points.length) add('path', { d: through(points), fill: 'none', stroke, 'stroke-width': line, 'stroke-linejoin': 'round', 'stroke-linecap': 'round' });
    },
    shape(points, fill) {
      add('path', { d: `${through(points)}z`, fill });
    },
    group(x, y) {
      parts.push(`<g transform="translate(${fixed(x)} ${fixed(y)})">`);
    },
    endGroup() {
      parts.push('</g>');
    },
    document(width, height) {
      const { tile, line } = hatch;
      const lines = `<path d="M0 ${tile}L${tile} 0M${-tile / 2} ${tile / 2}L${tile / 2} ${-tile / 2}M${tile / 2} ${tile * 1.5}L${tile * 1.5} ${tile / 2}" stroke="${theme.hatch}" stroke-width="${line}"/>`;
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="Source Sans 3, Source Sans, sans-serif">`
        + `<defs><pattern id="idle" width="${tile}" height="${tile}" patternUnits="userSpaceOnUse"><rect width="${tile}" height="${tile}" fill="${theme.hatchGround}"/>${lines}</pattern></defs>`
        + `<rect width="100%" height="100%" fill="${theme.ground}"/>${parts.join('')}</svg>`;
    },
  };
}

function canvasPen(context, theme, hatch = HATCH) {
  const trace = (points) => {
    context.beginPath();
    points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  };
  let pattern = null;
  return {
    rect(x, y, width, height, { fill, stroke, line = 1, radius = 0 }) {
      context.beginPath();
      if (radius) context.roundRect(x, y, width, height, radius);
      else context.rect(x, y, width, height);
      if (fill) {
        context.fillStyle = fill === 'idle' ? (pattern ??= hatched(context, theme, hatch)) : fill;
        context.fill();
      }
      if (stroke) {
        Object.assign(context, { strokeStyle: stroke, lineWidth: line });
        context.stroke();
      }
    },
    text(x, y, words, ink) {
      const { fill, size, weight, anchor } = { ...TYPE, ...ink };
      Object.assign(context, { font: `${weight} ${size}px ${theme.font}`, fillStyle: fill, textAlign: anchor === 'middle' ? 'center' : anchor });
      context.fillText(words, x, y);
    },
    line(points, { stroke, line }) {
      trace(points);
      Object.assign(context, { strokeStyle: stroke, lineWidth: line, lineJoin: 'round', lineCap: 'round' });
      context.stroke();
    },
    shape(points, fill) {
      trace(points);
      context.closePath();
      context.fillStyle = fill;
      context.fill();
    },
  };
}

function hatched(context, theme, { tile, line }) {
  const scale = Math.round(sharpness() * 2);
  const canvas = Object.assign(document.createElement('canvas'), { width: tile * scale, height: tile * scale });
  const ink = canvas.getContext('2d');
  ink.scale(scale, scale);
  ink.fillStyle = theme.hatchGround;
  ink.fillRect(0, 0, tile, tile);
  Object.assign(ink, { strokeStyle: theme.hatch, lineWidth: line });
  for (const shift of [-tile, 0, tile]) {
    ink.moveTo(shift - 1, tile + 1);
    ink.lineTo(shift + tile + 1, -1);
  }
  ink.stroke();
  const pattern = context.createPattern(canvas, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}

// On a wall all is scaled by one factor (`browser/wall.js`): what a canvas needs of it, and the height that is left.
const wallZoom = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--wall-zoom')) || 1;
const sharpness = () => window.devicePixelRatio * wallZoom();
const wallHeight = () => window.innerHeight / wallZoom();

// A canvas as sharp as the screen, its units CSS pixels.
function sizedCanvas(canvas, width, height) {
  const scale = sharpness();
  Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  canvas.getContext('2d').setTransform(scale, 0, 0, scale, 0, 0);
  return canvas;
}

const svgFile = (markup) => new Blob([markup], { type: 'image/svg+xml' });
