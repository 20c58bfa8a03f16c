// One entry of the browser's history for each view: a page with one of its scenes. Whatever else an address says, its
// settings and its predictions, is written into the entry of the view that is open. So Back is the view before, always.
//
// Streamlit pushes an entry for some changes and replaces it for others, and leaves a page in two writes: first its
// address without settings, then the next page's.

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

// What was written bare was the view itself, and no page was left by it.
function keepBare() {
  if (!bare) return;
  clearTimeout(bare.timer);
  const { before, state } = bare;
  const after = location.href;
  bare = null;
  if (viewOf(before) === viewOf(after)) return;
  replaced(state, '', before);
  pushed(state, '', after);
}

function written(state, title, url) {
  if (!url) return replaced(state, title);
  const there = new URL(url, location.href);
  if (bare && there.pathname !== location.pathname) {
    clearTimeout(bare.timer);
    replaced(bare.state, '', bare.before);
    bare = null;
  } else keepBare();
  if (there.pathname === location.pathname && !there.search && location.search) {
    bare = { before: location.href, state: history.state, timer: setTimeout(keepBare, BARE_MS) };
    return replaced(state, title, url);
  }
  // before a visitor has done anything it is the address they came with, put into our words
  const isNew = viewOf(there) !== viewOf(location.href) && navigator.userActivation.hasBeenActive;
  return (isNew ? pushed : replaced)(state, title, url);
}

Object.assign(history, { pushState: written, replaceState: written });
window.addEventListener('popstate', () => { bare = null; }, true);
