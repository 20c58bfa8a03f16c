// One entry of the browser's history for each view: a page with one of its scenes. Whatever else an address says, its
// settings and its predictions, is written into the entry of the view that is open. So Back is the view before, always.
//
// Streamlit pushes an entry for some changes and replaces it for others, and leaves a page in several writes: first its
// address without settings, or with those of the next page, then the next page's, then that with the scene it was left
// at. How many of them there are depends on how fast the server is; so an act of the visitor makes one entry at the most.

const BARE_MS = 300;
const [pushed, replaced] = [history.pushState, history.replaceState].map((write) => write.bind(history));
let bare = null;
const firstScenes = {};

// A page and its scene; the first scene needs no mention in the address.
function viewOf(href) {
  const { pathname, searchParams } = new URL(href, location.href);
  const scenes = [...searchParams].filter(([name, title]) => name.endsWith('_scene') && firstScenes[name] !== title);
  return JSON.stringify([pathname.replace(/\/$/, ''), scenes]);
}

// Whether the visitor has done something that no entry was made for, and whether that was to follow a link to another
// page, whose address comes with the server's answer, however late that is.
let acted = false;
let leaves = false;
window.addEventListener('keydown', () => { acted = true; }, true);
window.addEventListener('click', (event) => {
  acted = true;
  const link = event.composedPath()[0].closest?.('a[href]');
  leaves = Boolean(link) && !link.target && new URL(link.href).pathname !== location.pathname;
}, true);

// Each page's query as it was left, and the address that is open: a link of the header opens a page so again.
const left = new Map();
let lastHref = location.href;

function leave(href) {
  const { pathname, searchParams } = new URL(href);
  left.set(pathname, [...searchParams]);
}

// What was written bare was the view itself, and no page was left by it.
function keepBare() {
  if (!bare) return;
  clearTimeout(bare.timer);
  const { before, state } = bare;
  const after = location.href;
  bare = null;
  lastHref = after;
  if (!acted || viewOf(before) === viewOf(after)) return;
  replaced(state, '', before);
  acted = false;
  pushed(state, '', after);
}

function written(state, title, url) {
  if (!url) return replaced(state, title);
  writeTo(state, title, url);
  if (!bare) lastHref = location.href;
}

function writeTo(state, title, url) {
  const there = new URL(url, location.href);
  const stays = there.pathname === location.pathname;
  if (!stays) leave(bare?.before ?? location.href);
  if (bare && !stays) {
    clearTimeout(bare.timer);
    replaced(bare.state, '', bare.before);
    bare = null;
  } else if (!leaves) keepBare();
  if (stays && (leaves || (!there.search && location.search))) {
    bare ??= { before: location.href, state: history.state, timer: leaves ? 0 : setTimeout(keepBare, BARE_MS) };
    return replaced(state, title, url);
  }
  leaves = leaves && stays;
  // before a visitor has done anything it is the address they came with, put into our words
  const isNew = acted && viewOf(there) !== viewOf(location.href);
  if (isNew) acted = false;
  return (isNew ? pushed : replaced)(state, title, url);
}

Object.assign(history, { pushState: written, replaceState: written });
window.addEventListener('popstate', () => {
  leave(lastHref);
  lastHref = location.href;
  bare = null;
  leaves = false;
  acted = false;
}, true);

// Follow a link to another page as Back is followed, for which Streamlit listens: the visit goes on.
function visit(there) {
  keepBare();
  pushed(history.state, '', there);
  runAnew();
}

// Have the whole page run, of what the address says.
function runAnew() {
  window.dispatchEvent(new window.PopStateEvent('popstate', { state: history.state }));
}
