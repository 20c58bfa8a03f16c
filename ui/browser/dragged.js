// Numbers in prose that are dragged: the server has written each as a slider with its values (`ui/dragged.py`). It is
// moved by pointer, finger or arrow key; what it shows is told to the server while it is at rest or has nothing to do, and
// comes back as the text.

const DRAGGED = '.dragged';
const STEP_PX = 14, REST_MS = 120;
const WRITTEN_NUMBER = /\d[\d.,\u00a0\u202f]*/;
const hand = { span: null, x: 0, from: 0, at: 0, untold: null, again: 0, tell: () => {} };

const valuesOf = (span) => span.dataset.values.split(' ').map(Number);
const placeOf = (span) => valuesOf(span).indexOf(Number(span.ariaValueNow));
const isBusy = () => document.querySelector('.stApp')?.dataset.testScriptState !== 'notRunning';

// The same words with another number; its noun follows with the server's answer.
function showDragged(span, at) {
  const values = valuesOf(span), place = Math.max(0, Math.min(values.length - 1, at));
  const text = span.firstChild, number = values[place].toLocaleString(document.documentElement.lang);
  const words = text.data.replace(WRITTEN_NUMBER, number);
  if (text.data !== words) text.data = words;
  Object.assign(span, { ariaValueNow: String(values[place]), ariaValueText: words });
  return place;
}

function tellDragged() {
  clearTimeout(hand.again);
  if (!hand.untold) return;
  if (isBusy()) {
    hand.again = setTimeout(tellDragged, REST_MS);
    return;
  }
  hand.tell(hand.untold);
  hand.untold = null;
}

function moveDragged(span, at) {
  const before = Number(span.ariaValueNow), place = showDragged(span, at);
  const value = valuesOf(span)[place];
  if (value === before) return;
  hand.untold = { name: span.dataset.drag, value };
  clearTimeout(hand.again);
  hand.again = setTimeout(tellDragged, REST_MS);
}

document.addEventListener('pointerdown', (event) => {
  const span = event.button === 0 && event.target.closest?.(DRAGGED);
  if (!span) return;
  Object.assign(hand, { span, x: event.clientX, from: placeOf(span) });
  span.setPointerCapture(event.pointerId);
  span.focus({ preventScroll: true });
});
document.addEventListener('pointermove', ({ clientX }) => {
  if (hand.span) moveDragged(hand.span, hand.from + Math.round((clientX - hand.x) / STEP_PX));
});
for (const way of ['pointerup', 'pointercancel']) document.addEventListener(way, () => { hand.span = null; });

document.addEventListener('keydown', (event) => {
  const span = event.target.closest?.(DRAGGED);
  if (!span || event.ctrlKey || event.metaKey || event.altKey) return;
  const last = valuesOf(span).length;
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: -last, End: last }[event.key];
  if (!by) return;
  event.preventDefault();
  event.stopPropagation();
  moveDragged(span, placeOf(span) + by);
}, true);

export default function ({ setTriggerValue }) {
  hand.tell = (told) => setTriggerValue('dragged', told);
}
