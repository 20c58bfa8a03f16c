const SCALE = 2;
const MARGIN = 16;

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector('button');
  button.textContent = data.label;
  button.onclick = async () => {
    const chart = document.querySelector(`.st-key-${CSS.escape(data.container)} :is(svg, canvas).marks`);
    const url = URL.createObjectURL(await png(chart, data.ground));
    Object.assign(document.createElement('a'), { download: `${data.name}.png`, href: url }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
}

// The chart as it stands, on its ground with a margin. A chart of many marks is a canvas already.
async function png(chart, ground) {
  const { width, height } = chart.getBoundingClientRect();
  const [wide, high] = [width, height].map((side) => Math.ceil(SCALE * (side + 2 * MARGIN)));
  const canvas = Object.assign(document.createElement('canvas'), { width: wide, height: high });
  const pen = canvas.getContext('2d');
  pen.fillStyle = ground;
  pen.fillRect(0, 0, wide, high);
  pen.scale(SCALE, SCALE);
  pen.drawImage(chart instanceof SVGElement ? await image(chart, width, height) : chart, MARGIN, MARGIN, width, height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

// An image sees none of the page's fonts, so the drawing brings its own.
async function image(chart, width, height) {
  const copy = chart.cloneNode(true);
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', width * SCALE);
  copy.setAttribute('height', height * SCALE);
  copy.prepend(Object.assign(document.createElementNS(copy.namespaceURI, 'style'), { textContent: await fonts() }));
  const drawn = new Image();
  drawn.src = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: 'image/svg+xml' }));
  await drawn.decode();
  URL.revokeObjectURL(drawn.src);
  return drawn;
}

// The page's @font-face rules that are in use, each with its file written out in place of its address.
async function fonts() {
  const used = new Set([...document.fonts].filter((face) => face.status === 'loaded').map((face) => bare(face.family)));
  const rules = [...document.styleSheets].flatMap(rulesOf)
    .filter((rule) => rule instanceof CSSFontFaceRule && used.has(bare(rule.style.getPropertyValue('font-family'))));
  return (await Promise.all(rules.map(written))).join('\n');
}

function rulesOf(sheet) {
  try {
    return [...sheet.cssRules];
  } catch {
    return [];  // a sheet from elsewhere, an extension's, may not be read
  }
}

async function written(rule) {
  const [address, path] = rule.cssText.match(/url\("?([^")]+)"?\)/) ?? [];
  if (!path) return '';
  const file = await (await fetch(new URL(path, rule.parentStyleSheet.href ?? document.baseURI))).blob();
  return rule.cssText.replace(address, `url("${await dataUrl(file)}")`);
}

function dataUrl(blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
}

function bare(family) {
  return family.replace(/["']/g, '');
}
