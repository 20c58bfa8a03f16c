// Python's side of the page: loads Pyodide and the app from this folder, and passes messages on.
// parts.json says how many bytes that takes.

importScripts('./pyodide/pyodide.js', './unpack.js');

const began = performance.now();
const tell = (message, moved = []) => postMessage(message, moved);
const mark = (stage) => tell({ is: 'stage', stage, at: performance.now() - began });
const waiting = [];
let python = null;
let loaded = 0;
let wanted = 0;
let machine = 0;

onmessage = ({ data }) => { if (python) python(data); else waiting.push(data); };

// Every file that is fetched is counted as it comes: the page shows bytes, and no guess. Machine code is counted whole:
// a browser keeps what it made of it only for the answer itself. The page is told a few times a second.
const TELLS_MS = 200;
let told = 0;
const count = (bytes) => {
  loaded += bytes;
  if (performance.now() - told < TELLS_MS) return;
  told = performance.now();
  tell({ is: 'bytes', loaded, wanted });
};
const fetched = self.fetch.bind(self);
self.fetch = async (...asked) => {
  const answer = await fetched(...asked);
  if (!answer.body) return answer;
  if (answer.url.endsWith('.wasm')) { count(machine); return answer; }
  const counter = new TransformStream({
    transform(chunk, out) {
      count(chunk.byteLength);
      out.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counter), { status: answer.status, headers: answer.headers });
};

const pack = async (name) => {
  const answer = await fetch(`./${name}.pack`);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.body;
};

// A pack that Python asks for in the middle of a run, which cannot wait: the page says meanwhile what is going on.
const atOnce = (name) => {
  tell({ is: 'later', name });
  const ask = new XMLHttpRequest();
  ask.open('GET', `./${name}.pack`, false);
  ask.responseType = 'arraybuffer';
  ask.send();
  if (ask.status !== 200) throw new Error(`${name}: ${ask.status}`);
  return new Uint8Array(ask.response);
};

const answered = async (boot, { number, method, path, headers, body }) => {
  try {
    const answer = await boot.asked(method, path, headers, body ? new Uint8Array(body) : null);
    const [status, pairs, whole] = answer.toJs();
    answer.destroy();
    const copy = whole.slice().buffer;
    tell({ is: 'answer', number, status, headers: pairs, body: copy }, [copy]);
  } catch (error) {
    tell({ is: 'answer', number, status: 500, headers: [], body: null });
    throw error;
  }
};

const begin = async () => {
  const parts = await (await fetched('./parts.json')).json();
  machine = parts.bytes.machine;
  wanted = parts.bytes.first;
  const first = pack('first');
  const pyodide = await loadPyodide({
    indexURL: './pyodide/',
    env: {
      HOME: '/home/pyodide',
      PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION: 'python',
    },
    stdout: (text) => tell({ is: 'log', text }),
    stderr: (text) => tell({ is: 'log', text, bad: true }),
  });
  mark('python');
  await unpack(pyodide.FS, await first);
  mark('unpacked');
  const copied = (proxy) => { const view = proxy.getBuffer('u8'); const copy = view.data.slice(); view.release(); return copy; };
  pyodide.registerJsModule('tab', {
    sent: (visit, message) => { const copy = copied(message).buffer; tell({ is: 'sent', visit, data: copy }, [copy]); },
    ended: (visit) => tell({ is: 'ended', visit }),
    fetched: (name) => atOnce(name),
  });
  pyodide.runPython("import sys; sys.path.append('/app/static_site/browser')");
  const boot = pyodide.pyimport('boot');
  await boot.start();
  mark('started');
  python = (message) => {
    if (message.is === 'open') boot.opened(message.visit, message.path, message.protocols, message.headers);
    else if (message.is === 'in') boot.came(message.visit, new Uint8Array(message.data));
    else if (message.is === 'close') boot.closed(message.visit);
    else if (message.is === 'ask') answered(boot, message);
    else if (message.is === 'memory') tell({ is: 'log', text: `memory ${pyodide._module.HEAP8.length}` });
  };
  waiting.splice(0).forEach(python);
  mark('whole');
};

begin().catch((error) => tell({ is: 'failed', text: String(error.stack || error) }));
