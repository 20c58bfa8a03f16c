// One rule of scale for a wall, from its width and its height, for prose and figures alike. From 1280 × 720 to
// 1920 × 1080 type keeps its least size of 24 px, and a larger wall has more room; beyond, all grows as one; below, all
// shrinks as one. What a wall has no room for is its next screen: N turns to it before the next scene.

const SMALL = [1280, 720], LARGE = [1920, 1080];
const LEAST_ROOT = 24, ROOT = 28; // px, on a small and on a large wall
const LOW = [1500, 900]; // px; a wall smaller than this either way draws its figures lower, and over its whole width
const SCENE = '[class*="st-key-scene_"]';
const CONTROLS = '[class*="st-key-controls_"]'; // one row of them is one part
const WHOLE = `${CONTROLS}, .st-key-sides`; // and so are two boards side by side
const AIR = 8; // px over the foot, for letters that are higher than their line
const BEYOND = 4000; // px, for what may stand out of its place
const PLACES = `${WHOLE}, .stElementContainer`;
const WRITTEN = ':is(.stMarkdown, .stHtml, .stHeading)';
const FIGURES = 'figure, [data-testid="stVegaLiteChart"], [data-testid^="stBidiComponent"]';
const READING = '[class*="st-key-reading_"]';
const LINES = 'p, li, tr, pre, h1, h2, h3, h4, h5, .fraction-row';
const ASKS = ['last', 'first', 'after']; // where a low wall has its controls: the first of these that leaves no screen to them alone
const ANEW = { stacks: false, asks: 0, screensBefore: 0, tight: 0, looseScreens: 0, wasParted: false };
const TIGHT = 1, LOOSE_AGAIN = 2; // all stands a little closer; that was of no use
const LATE_MS = 2000; // so long it is waited for what has not been drawn: it may never be
const CALM_MS = 140; // so long nothing has grown: what arrives late is not laid out around before it is there
const calm = { sizes: '', since: 0, again: 0 };
const wall = {
  zoom: 1, low: false, screens: [], at: 0, top: 0, scene: '', presenting: false, tall: null, known: '', heard: '',
  seeks: true, sought: 1, laidOut: new Set(), ...ANEW, tell: () => {},
};

const least = (size) => Math.min(innerWidth / size[0], innerHeight / size[1]);

// The rule.
function scaleOf() {
  const [over, under] = [least(LARGE), least(SMALL)];
  const zoom = Math.round(20 * (under < 1 ? under : Math.max(1, over))) / 20; // in steps, so that figures are drawn once
  const share = Math.max(0, Math.min(1, (under - 1) / (LARGE[1] / SMALL[1] - 1)));
  return { zoom, root: LEAST_ROOT + share * (ROOT - LEAST_ROOT), low: innerWidth / zoom < LOW[0] || innerHeight / zoom < LOW[1] };
}

function scaleWall() {
  const { style } = document.documentElement;
  const { zoom, root, low } = scaleOf();
  for (const [name, value] of [['--wall-root', `${root * zoom}px`], ['--wall-zoom', zoom]]) {
    if (wall.presenting) style.setProperty(name, value);
    else style.removeProperty(name);
  }
  document.documentElement.dataset.wall = !wall.presenting ? '' : low || wall.stacks ? 'low' : 'high';
  document.documentElement.dataset.asks = ASKS[wall.asks];
  document.documentElement.dataset.tight = wall.tight === TIGHT;
  Object.assign(wall, { zoom, low });
  const seen = JSON.stringify({ low, zoom });
  if (!wall.presenting || seen === wall.known) return;
  wall.known = seen;
  wall.tell({ low, zoom });
}

// A heading has the first lines of what it heads with it.
function boxOf(part) {
  const { top, bottom, width, height } = part.getBoundingClientRect();
  return { top, bottom: bottom + (/^H[2-6]$/.test(part.tagName) ? 1.5 * height : 0), width, height };
}

// What is never cut: a paragraph, a row of a table, a figure with its controls.
function partsOf(flow) {
  return flow.flatMap((part) => [...part.querySelectorAll(PLACES)])
    .filter((place) => !place.parentElement.closest(WHOLE) && !place.closest('[class*="st-key-unseen_"]') && place.checkVisibility())
    .flatMap(linesOf)
    .map((part) => ({ part, box: boxOf(part) }))
    .filter(({ box }) => box.width > 2 && box.height > 2);
}

// What is written is cut between its lines.
function linesOf(place) {
  if (!place.querySelector(`:scope > ${WRITTEN}`)) return [place];
  const lines = [...place.querySelectorAll(LINES)].filter((line) => !line.querySelector(LINES) && !line.closest('.katex-mathml'));
  return lines.length ? lines : [place];
}

// The lowest place of a screen where nothing is cut.
function cleanEnd(boxes, from, room) {
  let to = from + room;
  for (let moved = true; moved;) {
    const across = boxes.filter((box) => box.top < to - 0.5 && box.bottom > to + 0.5).map((box) => box.top);
    moved = across.length > 0;
    if (moved) to = Math.min(...across);
  }
  return to;
}

// Where each screen begins and ends, and what it shows. Where columns leave no place to cut, or one that leaves half the
// screen empty, what would be cut goes to the next screen alone; what is higher than a screen is cut where the screen ends.
function cut(boxes, top, room) {
  const screens = [];
  for (let [left, from] = [boxes, top]; left.length;) {
    const clean = cleanEnd(left, from, room);
    const to = clean < from + room / 2 ? from + room : clean;
    const end = Math.max(...left.map((box) => box.bottom));
    const isCut = (box) => box.bottom > to + 0.5;
    const shown = new Set(left.filter((box) => !isCut(box) || box.top <= from + 1 || (box.bottom - box.top > room && box.top < to)));
    screens.push({ from, to: Math.min(to, Math.max(end, from + 1)), shown });
    left = left.filter(isCut);
    from = Math.min(...left.map((box) => (shown.has(box) ? to : box.top)));
  }
  return screens.length ? screens : [{ from: top, to: top, shown: new Set() }];
}

// The layout is sought once all is there and stands still, from the same beginning each time: it comes of the wall's size
// and of the content, and not of the order in which that arrived. Other content is laid out anew.
function standsStill(parts) {
  const sizes = parts.map(({ box }) => `${Math.round(box.width)}×${Math.round(box.bottom - box.top)}`).join();
  if (sizes !== calm.sizes) Object.assign(calm, { sizes, since: performance.now() });
  return performance.now() - calm.since >= (isDrawn() ? CALM_MS : LATE_MS);
}

// Whether the server has answered for this wall, and the browser has drawn what it was told.
function isDrawn() {
  const app = document.querySelector('.stApp');
  if (app?.dataset.testScriptState !== 'notRunning' || wall.heard !== wall.known || document.fonts.status !== 'loaded') return false;
  const figures = [...document.querySelectorAll(`${SCENE} :is([data-testid="stVegaLiteChart"], figure.player, [data-testid="stSkeleton"])`)];
  return figures.filter((figure) => figure.checkVisibility()).every((figure) => (figure.matches('figure') ? figure.dataset.stop !== undefined : figure.querySelector('canvas, svg') !== null));
}

function waitForCalm() {
  clearTimeout(calm.again);
  calm.again = setTimeout(layLater, CALM_MS / 2);
}

// On a wall a path or a name in a narrow column goes on in the next line after a slash or before a capital.
function breakPaths() {
  for (const code of document.querySelectorAll(`${SCENE} td code:not([data-broken])`)) {
    code.dataset.broken = true;
    const pieces = code.textContent.split(/(?<=[/_])(?=.)|(?<=[a-z])(?=[A-Z])/);
    if (pieces.length > 1) code.replaceChildren(...pieces.flatMap((piece, i) => (i ? [document.createElement('wbr'), piece] : [piece])));
  }
}

// What stands on the wall, whatever its size is: the names of its places, and what each is made of.
function contentOf(parts) {
  return parts.map(({ part }) => `${KEY.exec(part.closest('[class*="st-key-"]')?.className)?.[1]} ${part.tagName}`).join();
}

// Lay the open scene out over its screens, and show the one that is turned to.
function layScreens() {
  const [head, body, foot] = ['.st-key-head', SCENE, '.st-key-foot'].map((part) => document.querySelector(part));
  if (!wall.presenting || !head || !body || !foot) return showScreens([], []);
  const flow = [head, body];
  flow.forEach((part) => { part.style.top = ''; });
  const answered = foot.querySelector('.st-key-hide') !== null; // an answer begins with its first screen
  const scene = `${location.pathname} ${KEY.exec(body.className)[1]} ${answered}`;
  if (scene !== wall.scene) {
    Object.assign(wall, { scene, at: 0, seeks: true, laidOut: new Set(), ...ANEW });
    scaleWall();
  }
  breakPaths();
  const parts = partsOf(flow);
  const isCalm = standsStill(parts);
  if (!isCalm) waitForCalm();
  if (isCalm && !wall.seeks && !wall.laidOut.has(contentOf(parts))) {
    Object.assign(wall, { seeks: true, ...ANEW });
    scaleWall();
    return layLater();
  }
  const top = head.getBoundingClientRect().top;
  wall.top = top;
  wall.screens = cut(parts.map(({ box }) => box), top, foot.getBoundingClientRect().top - top - AIR);
  if (isCalm && !wall.seeks && wall.screens.length > wall.sought) {
    // what stands on it has grown, as another puzzle's board does
    Object.assign(wall, { seeks: true, ...ANEW });
    scaleWall();
    return layLater();
  }
  const isSought = isCalm && wall.seeks;
  if (isSought) wall.laidOut.add(contentOf(parts)); // whatever a step towards the layout makes of it is laid out with it
  if (isSought && wall.screens.length > 1 && !wall.stacks) {
    // what stands side by side is not cut well: one under the other, as on a low wall
    wall.stacks = true;
    scaleWall();
    return layLater();
  }
  const room = foot.getBoundingClientRect().top - top - AIR;
  if (isSought && (tightens(parts, room) || asksAnew(parts))) return layLater();
  if (isSought) Object.assign(wall, { seeks: false, sought: wall.screens.length });
  fillLast(wall.screens, parts, room);
  if (giveWay(wall.screens, parts)) wall.screens.shift();
  wall.at = Math.min(wall.at, wall.screens.length - 1);
  return showScreens(flow, parts);
}

const on = (screen, parts) => parts.filter(({ box }) => screen.shown.has(box)).sort((one, other) => one.box.top - other.box.top);
const isBare = (screen, parts) => on(screen, parts).every(({ part }) => part.matches(`${CONTROLS}, h1`));
const isFigure = ({ part }) => part.matches(FIGURES) || part.querySelector(FIGURES);
const asksOn = (screen, parts) => on(screen, parts).some(({ part }) => part.matches(CONTROLS));
// A figure's reading on a screen without it.
const isParted = (screens, parts) => parts.some(isFigure) && screens.some((screen) => !drawnOn(screen, parts) && on(screen, parts).some(({ part }) => part.closest(READING)));
const drawnOn = (screen, parts) => on(screen, parts).some(isFigure);

// A last screen that is nearly empty is one screen less where all stands a little closer, and a reading stands with its
// figure; else that was of no use.
function tightens(parts, room) {
  const { screens, looseScreens } = wall;
  const last = screens.at(-1), end = Math.max(last.from, ...on(last, parts).map(({ box }) => box.bottom));
  const isNearlyEmpty = screens.length > 1 && (isBare(last, parts) || isBare(screens[0], parts) || end - last.from < room / 3);
  const parted = isParted(screens, parts);
  const isOfUse = screens.length < looseScreens || (wall.wasParted && !parted && screens.length === looseScreens);
  if (wall.tight === TIGHT && !isOfUse) wall.tight = LOOSE_AGAIN;
  else if (!wall.tight && (isNearlyEmpty || parted)) Object.assign(wall, { tight: TIGHT, looseScreens: screens.length, wasParted: parted });
  else return false;
  scaleWall();
  return true;
}

// Controls stand after their figure, so that it comes first. Where that leaves them a screen without it they go before
// it, unless they then drive it to another screen.
function asksAnew(parts) {
  const { asks, screens, screensBefore } = wall;
  const isPoor = asks === ASKS.indexOf('first') && (screens.length > screensBefore || !drawnOn(screens[0], parts));
  const isApart = parts.some(isFigure) && screens.some((screen) => asksOn(screen, parts) && !drawnOn(screen, parts));
  if (asks === ASKS.length - 1 || !(isPoor || isApart || screens.some((screen) => isBare(screen, parts)))) return false;
  Object.assign(wall, { asks: asks + 1, screensBefore: screens.length, tight: 0 });
  scaleWall();
  return true;
}

// A last screen of a line or a row of controls takes along what is written before them, but no figure.
function fillLast(screens, parts, room) {
  const [before, last] = screens.slice(-2);
  if (!last) return;
  const end = Math.max(...on(last, parts).map(({ box }) => box.bottom));
  const drawn = on(before, parts).filter(isFigure).map(({ box }) => box.bottom);
  const keeps = drawn.length ? Math.max(...drawn) : before.from + room / 5;
  const written = on(before, parts).filter(({ box }) => box.top >= keeps - 0.5);
  while (written.length && !drawnOn(last, parts) && (isBare(last, parts) || end - last.from < room / 3)) {
    const boxes = on(before, parts).map(({ box }) => box);
    const from = cleanEnd(boxes, before.from, written.pop().box.top - before.from);
    if (from < keeps - 0.5 || end - from > room) return;
    for (const box of boxes.filter(({ top }) => top >= from - 0.5)) {
      before.shown.delete(box);
      last.shown.add(box);
    }
    before.to = last.from = from;
  }
}

// A figure that needs a screen for itself has the first one: the title gives way to it.
function giveWay([first, second], parts) {
  return second !== undefined && on(first, parts).every(({ part }) => part.matches('h1')) && drawnOn(second, parts);
}

function showScreens(flow, parts) {
  const { screens, at } = wall;
  const { from, shown } = screens[at] ?? {};
  for (const { part, box } of parts) {
    const visibility = shown.has(box) ? '' : 'hidden';
    if (part.style.visibility === visibility) continue;
    Object.assign(part.style, { visibility, opacity: visibility && '0' }); // some labels insist on being visible
  }
  for (const part of flow) {
    const over = from - part.getBoundingClientRect().top; // what is lower than the screen is under the foot
    part.style.clipPath = screens.length > 1 && over > 0 ? `inset(${over}px -${BEYOND}px -${BEYOND}px -${BEYOND}px)` : '';
    part.style.top = from > wall.top + 0.5 ? `${wall.top - from}px` : '';
  }
  document.documentElement.dataset.laid = !flow.length || !wall.seeks;
  document.documentElement.style.setProperty('--screen', screens.length > 1 ? `" · ${at + 1}/${screens.length}"` : '""');
}

// Turn a screen on or back; whether there was one to turn to.
function turn(by) {
  const to = wall.at + by;
  if (!wall.presenting || to < 0 || to >= wall.screens.length) return false;
  wall.at = to;
  layScreens();
  return true;
}

let laying = null;
function layLater() {
  laying ??= requestAnimationFrame(() => {
    laying = null;
    layScreens();
  });
}

const heights = new ResizeObserver(layLater);

// Told after every run of the page, and of every change in it.
function watchWall(presenting) {
  wall.presenting = presenting;
  scaleWall();
  const body = document.querySelector(SCENE);
  if (body && body !== wall.tall) {
    heights.disconnect();
    heights.observe(body);
    wall.tall = body;
  }
  layLater();
}

window.addEventListener('resize', () => {
  Object.assign(wall, { seeks: true, laidOut: new Set(), ...ANEW });
  watchWall(wall.presenting);
});
