// Python for a lab's tests, in a worker of its own that the page may end at any time.

importScripts('./pyodide/pyodide.js', './unpack.js');

// A learner's code may take so much memory and no more: past it Python has a MemoryError, and the page keeps its own.
const PAGE_BYTES = 65536;
const MOST_PAGES = 2 ** 30 / PAGE_BYTES;
const { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = function bounded(pages) {
  if (this.buffer.byteLength / PAGE_BYTES + pages > MOST_PAGES) throw new RangeError('a lab takes no more memory');
  return grow.call(this, pages);
};

// A tab that runs the whole app has most of it already; a server's visitor fetches one pack of what tests need.
const PACKS = self.location.hash === '#alone' ? ['judge'] : ['first', 'lab'];

const ready = (async () => {
  const packs = PACKS.map((name) => fetch(`./${name}.pack`));
  const pyodide = await loadPyodide({ indexURL: './pyodide/', env: { HOME: '/home/pyodide', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' }, stdout: () => {}, stderr: () => {} });
  for (const one of packs) await unpack(pyodide.FS, (await one).body);
  pyodide.runPython("import os, sys; os.chdir('/app'); sys.path[:0] = ['/app', '/app/static_site/browser']");
  return pyodide.pyimport('lab_judge');
})();

onmessage = async ({ data: { lab, source, sizes, language } }) => {
  try {
    const judge = await ready;
    postMessage({ is: 'running' });
    postMessage({ is: 'judged', verdict: judge.judged.callKwargs(lab, source, { sizes, language }) });
  } catch (error) {
    postMessage({ is: 'broke', text: String(error).trim().split('\n').at(-1) });
  }
};
