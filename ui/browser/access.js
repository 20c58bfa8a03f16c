// What Streamlit leaves to be said of its own parts: heads in order, lists that are lists, and what scrolls by keyboard.

const HEADS = 'H1 H2 H3 H4 H5 H6'.split(' ');

// Elements in the order of the page, those of components among them.
function* everyElement(root) {
  const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
  for (let element = walk.nextNode(); element; element = walk.nextNode()) {
    yield element;
    if (element.shadowRoot) yield* everyElement(element.shadowRoot);
  }
}

// Where our own words stand: what they say is in the language already.
const OURS = '[data-testid="stMarkdownContainer"], [data-testid="stHtml"], [data-testid="stBidiComponent"], pre, script, style';

// Where Streamlit says what is read aloud.
const SPOKEN = ['aria-label', 'aria-roledescription', 'placeholder', 'title'];

// A file's size, alone or behind its name, and a number within a sentence, as Streamlit writes them.
const SIZE = /((?:^|, )\d+)\.(\d+[KMGT]?B)$/, NUMBER = /^(\d+)\.(\d+(?:[KMGT]?B)?)$/;
const inOurMarks = (said, known) => said.replace(known, (_, whole, rest) => `${whole}${decimalMark()}${rest}`);
const pattern = (said) => new RegExp(`^${said.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('(.+?)')}$`);
const decimalMark = () => (1.5).toLocaleString(document.documentElement.lang)[1];

// What Streamlit says of its own parts, by how that is called in the language of the visit: `Fullscreen`, `… per file`.
let called = new Map();
let open = [];

function speak(words) {
  called = new Map(Object.entries(words));
  open = [...called].filter(([said]) => said.includes('…')).map(([said, ours]) => [pattern(said), ours.split('…')]);
  if (called.size) sayOfPage();
}

function inOurs(said) {
  if (called.has(said)) return called.get(said);
  const [head, ...rest] = said.split(': ');
  if (rest.length && called.has(head)) return [called.get(head), ...rest].join(': ');
  const found = open.map(([known, ours]) => [known.exec(said), ours]).find(([match]) => match);
  if (!found) return inOurMarks(said, SIZE);
  const [[, ...middles], [before, ...behind]] = found;
  return before + behind.map((words, at) => inOurMarks(middles[at], NUMBER) + words).join('');
}

function sayInOurs(element) {
  for (const name of SPOKEN) if (element.hasAttribute(name)) setOnce(element, name, inOurs(element.getAttribute(name)));
  const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  if (!texts.length || (element.closest(OURS) && !element.closest('[role="dialog"]'))) return;
  for (const text of texts) {
    const said = text.data.trim(), ours = inOurs(said);
    if (ours !== said) text.data = text.data.replace(said, ours);
  }
}

// A comma typed or pasted where a language's decimals have one. Firefox takes it by the page's language; the others
// go by their own, where 2,5 may be read as 25; all of them take a point.
function typeDecimal(event) {
  const field = event.composedPath()[0], typed = event.key ?? event.clipboardData?.getData('text/plain') ?? '';
  if (field.type !== 'number' || !/^[^.,]*,[^.,]*$/.test(typed)) return;
  if (decimalMark() !== ',' || 'mozInnerScreenX' in window) return;
  event.preventDefault();
  document.execCommand('insertText', false, typed.trim().replace(',', '.'));
}

// Set where it is not so yet; dropped where the value is null.
function setOnce(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

// A chart is one picture with its reading as its name, and not each word of its axes; the buttons over it do not say that
// reading again, four times before it; and a slider says its name and its value once.
const SAID_BY_SLIDER = ['stSliderThumbValue', 'stSliderTickBar'];
let readings = 0;
function nameByReading(chart) {
  setOnce(chart, 'role', 'img');
  const place = chart.closest('[class*="st-key-chart_"]')?.closest('[data-testid="stLayoutWrapper"]');
  const reading = place?.nextElementSibling?.querySelector('[class*="st-key-reading_"]');
  if (!reading) return;
  reading.id ||= `reading-${readings += 1}`;
  setOnce(chart, 'aria-labelledby', reading.id);
}

function sayOnce(element) {
  const testid = element.getAttribute('data-testid');
  if (testid === 'stVegaLiteChart') nameByReading(element);
  if (testid === 'stBaseButton-elementToolbar' && element.ariaLabel) setOnce(element, 'aria-label', element.ariaLabel.split(': ')[0]);
  if (SAID_BY_SLIDER.includes(testid)) setOnce(element, 'aria-hidden', 'true');
  if (element.type === 'range' && element.ariaLabel) element.removeAttribute('aria-labelledby');
}

// A head's size is its looks; its level is one below what it stands under.
function levelHeads(heads) {
  let above = 0;
  for (const head of heads) {
    if (!head.checkVisibility({ visibilityProperty: true })) continue;
    const level = Math.min(Number(head.tagName[1]), above + 1);
    above = level;
    setOnce(head, 'aria-level', level === Number(head.tagName[1]) ? null : String(level));
  }
}

// Stacked on a phone, each cell of a table says its column.
function nameCells(table) {
  const names = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => {
    const said = head.cloneNode(true);
    for (const tip of said.querySelectorAll('[role=tooltip]')) tip.remove();
    return said.textContent.trim();
  });
  for (const row of table.tBodies[0]?.rows ?? []) [...row.cells].forEach((cell, at) => { if (names[at]) setOnce(cell, 'data-label', names[at]); });
}

// A component draws itself after the page has changed, and again at each step.
const hasHead = (node) => node.querySelector && (HEADS.includes(node.tagName) || node.querySelector(HEADS.join()));
let saying = null;
const drawn = new MutationObserver((changes) => {
  if (!changes.some(({ addedNodes }) => [...addedNodes].some(hasHead))) return;
  saying ??= setTimeout(() => { saying = null; sayOfPage(); });
});

function sayOfPage() {
  const heads = [];
  for (const element of everyElement(document.body)) {
    if (element.shadowRoot) drawn.observe(element.shadowRoot, { subtree: true, childList: true });
    sayOnce(element);
    if (called.size) sayInOurs(element);
    if (HEADS.includes(element.tagName)) heads.push(element);
    if (element.tagName === 'TABLE') nameCells(element);
    // a bare block of code, wider than its place
    if (element.tagName === 'PRE') setOnce(element, 'tabindex', element.scrollWidth > element.clientWidth + 1 ? '0' : null);
  }
  levelHeads(heads);
  // what floats over the page is within it, where there is anything
  for (const floating of document.querySelectorAll('#stFloatingOverlayPortal, body > [data-floating-ui-portal]')) {
    const name = floating.textContent.trim() ? document.title.split(' · ').at(-1) : '';
    setOnce(floating, 'role', name ? 'region' : null);
    setOnce(floating, 'aria-label', name || null);
  }
  for (const told of document.querySelectorAll('.st-key-room_where, .st-key-room_sent')) setOnce(told, 'role', 'status');
}

// Tab comes into a row of choices at the chosen one, as the arrows then go on from it.
let isTabbed = false;
for (const way of ['keydown', 'pointerdown']) document.addEventListener(way, ({ key }) => { isTabbed = key === 'Tab'; }, true);
document.addEventListener('focusin', ({ target, relatedTarget }) => {
  const row = isTabbed && target.closest?.('[role="radiogroup"]');
  if (row && !row.contains(relatedTarget)) row.querySelector('[role="radio"][aria-checked="true"]')?.focus();
});
