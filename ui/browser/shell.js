// What the browser has to know of the shell: keys, focus, what is said of a change, and links within the course.
// Mounted once a visit; `data` is { present, keys, lang, streamlit, shared, first, reads, wall, dark };
// what changes with the open scene stands in the page, and is read whenever that changes.

const PHONE_PX = [600, 480]; // a screen narrower or lower than this is a phone's, upright or on its side
const WRITTEN_IN = 'input:not([type=range], [type=radio], [type=checkbox]), textarea, [contenteditable=true], [role=combobox]';
const BLANKS = ['.', 'w', 'W'];
const THEMES = ['t', 'T'];
const CLOCK_MS = 5000;
const CLEAR_PX = 12; // between the course and the scenario
const IN_COURSE = '.course :is(a, button)';
const STREAMLITS_OWN = ['embed', 'embed_options'];
const TURNS = { n: 1, b: -1, PageDown: 1, PageUp: -1 };
const TOLD = '.st-key-unseen_told [data-view]';
let now = { present: false, keys: true, shared: [], reads: false };
let scene = { said: '', view: '', path: '', voter: 'null' };
let tellVoter = null; // until the shell is mounted
let last = null;

const find = (selector) => document.querySelector(selector);
const press = (selector) => find(`${selector} button`)?.click();

function region() {
  const made = find('#shell-said') ?? document.body.appendChild(Object.assign(document.createElement('div'), { id: 'shell-said' }));
  made.setAttribute('role', 'status');
  made.setAttribute('aria-live', 'polite');
  made.style.cssText = 'position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)';
  return made;
}

// A dark wall, until any key or click.
function blank() {
  const dark = Object.assign(document.createElement('div'), { id: 'shell-blank' });
  dark.style.cssText = 'position: fixed; inset: 0; z-index: 1000000; background: #000';
  dark.addEventListener('click', () => dark.remove());
  document.body.append(dark);
}

// The minutes since a lecture's path was opened in this window.
function tellElapsed() {
  const name = `shardlab-path-${scene.path}`;
  if (scene.path && !sessionStorage.getItem(name)) sessionStorage.setItem(name, Date.now());
  const minutes = scene.path ? Math.floor((Date.now() - sessionStorage.getItem(name)) / 60000) : 0;
  document.documentElement.style.setProperty('--elapsed', scene.path ? `" · ${minutes}/${scene.path}"` : '""');
}

// What a presenter's clicker sends: pages turn over scenes, a point or W blanks the wall, Escape leaves it; T is its theme.
function onClicker(event) {
  const turned = { PageDown: '.st-key-next, .st-key-next_page', PageUp: '.st-key-back, .st-key-back_page' }[event.key];
  if (turned) find(turned)?.querySelector('button')?.click();
  else if (event.key === 'Escape') press('.st-key-go_present');
  else if (BLANKS.includes(event.key) && now.keys) blank();
  else if (THEMES.includes(event.key) && now.keys) turnTheme(!isDark(find('.stApp')));
  else return false;
  event.preventDefault();
  event.stopImmediatePropagation();
  return true;
}

// A slider keeps the focus after it is moved; Streamlit hears no shortcut there.
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const panel = find('.st-key-scenario_panel');
  if (event.key === 'Escape' && panel?.getBoundingClientRect().height > 10) {
    press('.st-key-scenario_done');
    return find('.st-key-scenario button')?.focus();
  }
  const [target] = event.composedPath();
  const dark = find('#shell-blank');
  if (dark) {
    dark.remove();
    event.preventDefault();
    return event.stopImmediatePropagation();
  }
  const by = TURNS[event.key.length > 1 ? event.key : event.key.toLowerCase()];
  if (by && (now.keys || event.key.length > 1) && !target?.closest?.(WRITTEN_IN) && turn(by)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return undefined;
  }
  if (now.present && !target?.closest?.(WRITTEN_IN) && onClicker(event)) return undefined;
  if (!now.keys || target?.type !== 'range' || !/^[a-z]$/i.test(event.key)) return;
  const keys = [...document.querySelectorAll('button:enabled kbd')];
  const key = keys.find((kbd) => kbd.textContent.trim().toUpperCase() === event.key.toUpperCase());
  if (!key) return;
  event.preventDefault();
  event.stopPropagation();
  key.closest('button').click();
}

// A button that is gone or disabled after what it did leaves the keyboard nowhere: on to the next step. The course is
// another page's after a link of it: on to the same.
function keepFocus() {
  if (document.activeElement !== document.body || !last) return;
  if (last.isConnected && !last.disabled) return;
  const course = last.closest('.course');
  const at = course ? [...course.querySelectorAll(IN_COURSE)].indexOf(last) : -1;
  const next = document.querySelectorAll(IN_COURSE)[at] ?? find('.st-key-next button:enabled') ?? find('.st-key-next_page button:enabled');
  next?.focus({ preventScroll: true });
}

// Next and Back turn the screens of a projected scene first.
function onPress(event) {
  const button = event.target.closest?.('.st-key-foot button');
  const by = button && (button.closest('.st-key-next, .st-key-next_page') ? 1 : button.closest('.st-key-back, .st-key-back_page') ? -1 : 0);
  if (!by || !turn(by)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

// A link within the course stays in this tab, and takes along what all pages share. For one of the navigation nothing is
// loaded anew, and the page is as it was left. One of the text may ask for a scene or a setting of its own.
function onClick(event) {
  const link = event.composedPath().find((part) => part.tagName === 'A' && part.href);
  if (!link?.closest('.course, [data-testid="stMarkdownContainer"]') || link.hasAttribute('download')) return;
  const there = new URL(link.href), here = new URL(location.href), written = link.getAttribute('href');
  if (there.origin !== here.origin || written.startsWith('#')) return;
  for (const name of [...now.shared, ...STREAMLITS_OWN]) {
    if (!there.searchParams.has(name)) here.searchParams.getAll(name).forEach((value) => there.searchParams.append(name, value));
  }
  const asked = link.closest('.course') && there.pathname !== here.pathname ? left.get(there.pathname) ?? [] : [];
  for (const [name, value] of asked) {
    if (![...now.shared, ...STREAMLITS_OWN].includes(name)) there.searchParams.append(name, value);
  }
  link.href = there.href;
  link.target = '_self';
  setTimeout(() => link.setAttribute('href', written)); // what is shared is another by the next click
  const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link.closest('.course') || !isPlain || find('.stApp').dataset.testConnectionState !== 'CONNECTED') return;
  event.preventDefault();
  closeCourse();
  if (there.pathname !== here.pathname) visit(there);
}

function closeCourse() {
  for (const open of document.querySelectorAll('.course :popover-open')) open.hidePopover();
}

// Streamlit's own skips to what begins with the course.
function onSkip(event) {
  const column = event.target.closest?.('[data-testid="stSkipToContent"]') && find('.st-key-column');
  if (!column) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  column.tabIndex = -1;
  column.focus({ preventScroll: true });
}

// A visitor whose server is gone is connected to one that has not run the page yet, and that does not know the part of it
// that the next press is in.
function watchTheConnection() {
  const app = find('[data-testid="stApp"]');
  let before = app.dataset.testConnectionState;
  new MutationObserver(() => {
    const state = app.dataset.testConnectionState;
    if (state === 'CONNECTED' && before !== state) runAnew();
    before = state;
  }).observe(app, { attributeFilter: ['data-test-connection-state'] });
}

document.addEventListener('keydown', onKey, true);
for (const way of ['keydown', 'paste']) document.addEventListener(way, typeDecimal, true);
document.addEventListener('click', onPress, true);
document.addEventListener('click', onSkip, true);
for (const way of ['click', 'auxclick']) document.addEventListener(way, onClick, true);
matchMedia('(min-width: 900px)').addEventListener('change', closeCourse);
document.addEventListener('focusin', (event) => { last = event.target; }, true);

// The scene that is open now, if it is another than before, or another that is told of it.
function hearScene() {
  const told = find(TOLD)?.dataset;
  if (!told || Object.keys(scene).every((part) => told[part] === scene[part])) return;
  const before = scene;
  scene = { ...told };
  if (scene.said !== before.said) region().textContent = before.said ? scene.said : '';
  if (before.view && scene.view && scene.view !== before.view) find('[data-testid="stMain"]').scrollTop = 0; // it begins at its top
  tellElapsed();
  tellOthers();
}

function tellOthers() {
  followTheWall(scene.view, now.present, now.reads);
  if (tellVoter) keepVoter(JSON.parse(scene.voter), tellVoter);
}

// Whether the course reaches the scenario, by where they begin and end alone: both keep their places on two lines.
function markCrowded() {
  const [course, bar] = ['.course', '.st-key-bar'].map((place) => find(place)?.getBoundingClientRect());
  if (course?.width && bar?.width) document.documentElement.dataset.crowded = course.right + CLEAR_PX > bar.left;
}

let waiting = null;
function afterChange() {
  waiting = null;
  markCrowded();
  keepFocus();
  sayOfPage();
  markFromServer();
  watchWall(now.present);
}
function afterAWhile() {
  waiting ??= setTimeout(afterChange, 100);
}
// what is wider than its place, and so is reached by the keyboard, is another thing in a window of another width
window.addEventListener('resize', afterAWhile);
new MutationObserver(hearScene).observe(document.body, { subtree: true, childList: true });
new MutationObserver(afterAWhile).observe(document.body, { subtree: true, attributeFilter: ['disabled'], childList: true });

// The style sheets of the other theme are the server's: it is told where the visitor's system turns dark while the page is open.
const isDark = (element) => Number(/\d+/.exec(getComputedStyle(element.closest('.stApp') ?? document.body).backgroundColor)) < 128;

// Where nobody embeds the app, it hears what it tells who embeds it, each new address, and holds that against the sixteen
// addresses that may embed it, before it sends what was pressed.
window.addEventListener('message', (event) => {
  if (window === window.parent && event.source === window) event.stopImmediatePropagation();
}, true);

watchTheConnection();
setInterval(tellElapsed, CLOCK_MS);

export default function ({ data, parentElement, setStateValue }) {
  document.documentElement.lang = data.lang;
  speak(data.streamlit);
  Object.assign(firstScenes, data.first);
  // a projected link on a phone is the same page, for reading
  if (data.present && !now.present && (innerWidth <= PHONE_PX[0] || innerHeight <= PHONE_PX[1])) press('.st-key-go_present');
  now = data;
  tellVoter = (kept) => setStateValue('voter', kept);
  Object.assign(wall, { known: JSON.stringify(data.wall), heard: JSON.stringify(data.wall), tell: (seen) => setStateValue('wall', seen) });
  watchWall(data.present);
  hearScene();
  tellOthers();
  afterAWhile();
  const dark = isDark(parentElement.host ?? parentElement);
  if (dark !== data.dark) setStateValue('dark', dark);
}
