// Runs a Python program in a built folder's own Pyodide, in Node: node pyodide.mjs SITE PROGRAM [ARGUMENT...]
// The folder is /site there, the program's folder /program, and where it is started /repository; packages are the
// folder's. It prints what the program prints.
import fs from 'node:fs';
import os from 'node:os';
import { Readable } from 'node:stream';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [site, program, ...given] = process.argv.slice(2);
// Pyodide's scripts are no modules, whatever the package.json above the folder says
const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'shardlab-pyodide-'));
fs.cpSync(path.join(site, 'pyodide'), copy, { recursive: true });
fs.copyFileSync(path.join(site, 'unpack.js'), path.join(copy, 'unpack.cjs'));
let status = 1;
try {
  const { loadPyodide } = await import(pathToFileURL(path.join(copy, 'pyodide.mjs')).href);
  const python = await loadPyodide({
    indexURL: `${copy}/`, args: [], stdout: console.log, stderr: console.error,
    env: {
      HOME: '/home/pyodide', PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION: 'python',
    },
  });
  await import(pathToFileURL(path.join(copy, 'unpack.cjs')).href);
  for (const name of ['first', 'lab']) {
    await globalThis.unpack(python.FS, Readable.toWeb(fs.createReadStream(path.join(site, `${name}.pack`))));
  }
  for (const [at, folder] of [['/site', site], ['/program', path.dirname(program)], ['/repository', '.']]) {
    python.FS.mkdirTree(at);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: path.resolve(folder) }, at);
  }
  python.registerJsModule('tab', {
    sent: () => {}, ended: () => {}, fetched: (name) => new Uint8Array(fs.readFileSync(path.join(site, `${name}.pack`))),
  });
  python.runPython("import os, sys; os.chdir('/app'); sys.path[:0] = ['/app', '/program', '/app/static_site/browser']");
  python.globals.set('given', python.toPy(given));
  await python.runPythonAsync(fs.readFileSync(program, 'utf8'));
  status = 0;
} catch (error) {
  console.error(String(error).split('\n').slice(-30).join('\n'));
} finally {
  fs.rmSync(copy, { recursive: true, force: true });
  process.stdout.write('', () => process.exit(status)); // what was printed before goes first
}
