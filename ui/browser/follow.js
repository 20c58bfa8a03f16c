// The notes follow the wall: windows of one browser tell each other which scene is projected.

const channel = new BroadcastChannel('shardlab-wall');
const follow = { view: '', presents: false, reads: false };

function markNote(view) {
  const note = document.querySelector(`.st-key-note_${CSS.escape(view)}`);
  if (!note || note.dataset.now) return;
  document.querySelectorAll('[data-now]').forEach((other) => delete other.dataset.now);
  note.dataset.now = 'true';
  note.scrollIntoView({ block: 'center' });
}

channel.onmessage = ({ data: { view, asks } }) => {
  if (asks && follow.presents) channel.postMessage({ view: follow.view });
  if (view && follow.reads) markNote(view);
};

// On another device the server tells it, to who has the pass of the notes.
function markFromServer() {
  const view = document.querySelector('[data-wall-at]')?.dataset.wallAt;
  if (view && follow.reads) markNote(view);
}

// Told after every run of the page: the scene that is open, whether it is projected, and whether the notes are read.
function followTheWall(view, presents, reads) {
  const before = { ...follow };
  Object.assign(follow, { view, presents, reads });
  if (presents && (!before.presents || view !== before.view)) channel.postMessage({ view });
  if (reads && !before.reads) channel.postMessage({ asks: true });
}
