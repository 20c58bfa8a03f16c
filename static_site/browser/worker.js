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

let drew = null;
const drawn = new Promise((go) => { drew = go; });

onmessage = ({ data }) => { if (data.is === 'drawn') drew(); else if (python) python(data); else waiting.push(data); };

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
  const first = decodeURIComponent(self.location.hash.slice(1)) === 'first';
  machine = parts.bytes.machine;
  wanted = parts.bytes.first + (first ? 0 : parts.bytes.figures);
  const packs = (first ? ['first'] : ['first', 'figures']).map(pack);
  const pyodide = await loadPyodide({
    indexURL: './pyodide/',
    packages: first ? [] : ['pyarrow'],
    env: {
      HOME: '/home/pyodide',
      PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION: 'python',
    },
    stdout: (text) => tell({ is: 'log', text }),
    stderr: (text) => tell({ is: 'log', text, bad: true }),
  });
  mark('python');
  for (const one of packs) await unpack(pyodide.FS, await one);
  mark('unpacked');
  const copied = (proxy) => { const view = proxy.getBuffer('u8'); const copy = view.data.slice(); view.release(); return copy; };
  pyodide.registerJsModule('tab', {
    sent: (visit, message) => { const copy = copied(message).buffer; tell({ is: 'sent', visit, data: copy }, [copy]); },
    ended: (visit) => tell({ is: 'ended', visit }),
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
  if (first) await figuresLater(pyodide, boot);
  else waiting.splice(0).forEach(python);
  mark('whole');
};

// The first page has no figures: it is answered first, and what comes meanwhile waits for what draws them.
const figuresLater = async (pyodide, boot) => {
  const pass = python;
  python = null;
  let runs = 0;
  while (!runs) {
    const until = waiting.findIndex((message) => message.is === 'in');
    waiting.splice(0, until + 1).forEach((message) => { pass(message); runs += message.is === 'in'; });
    await new Promise((go) => setTimeout(go, 20));
  }
  // the page has the processor and the wire to itself until it stands; one that is never drawn is not waited for
  await Promise.race([drawn, new Promise((go) => setTimeout(go, 10000))]);
  await Promise.all([pack('figures').then((packed) => unpack(pyodide.FS, packed)), pyodide.loadPackage('pyarrow')]);
  boot.import_figures();
  python = pass;
  waiting.splice(0).forEach(python);
};

begin().catch((error) => tell({ is: 'failed', text: String(error.stack || error) }));
