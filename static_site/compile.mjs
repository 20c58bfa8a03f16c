// Compiles the Python of a built folder with the Pyodide that will run it. usage: node compile.mjs SITE PYODIDE
// A wheel's sources become bytecode alone; Streamlit and the app keep theirs beside it, since Streamlit reads pages as text.
import crypto from 'node:crypto';
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const [site, pyodide] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${pyodide}/` });
python.FS.mkdirTree('/site');
python.FS.mkdirTree('/made');
python.FS.mount(python.FS.filesystems.NODEFS, { root: site }, '/site');
const lockFile = `${site}/pyodide/pyodide-lock.json`;
const lock = JSON.parse(fs.readFileSync(lockFile));
const wheels = Object.values(lock.packages).map((row) => `pyodide/${row.file_name}`);
python.globals.set('names', python.toPy(['streamlit.zip', 'app.zip', ...wheels]));
python.runPython(`
import importlib.util, io, os, py_compile, sys, zipfile
TAG, UNCHECKED = sys.implementation.cache_tag, py_compile.PycInvalidationMode.UNCHECKED_HASH

def entry(name):
    made = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    made.compress_type, made.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    return made

def compiled(data, place):
    with open("/made/a.py", "wb") as source:
        source.write(data)
    py_compile.compile("/made/a.py", "/made/a.pyc", dfile=place, doraise=True, invalidation_mode=UNCHECKED)
    with open("/made/a.pyc", "rb") as code:
        return code.read()

def compile_in(name, root):
    alone, out = name.endswith(".whl"), io.BytesIO()
    with zipfile.ZipFile(name) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        for one in old.namelist():
            data = old.read(one)
            if not one.endswith(".py"):
                new.writestr(entry(one), data)
                continue
            try:
                code = compiled(data, root + one)
            except (SyntaxError, py_compile.PyCompileError):
                new.writestr(entry(one), data)
                continue
            if alone:
                new.writestr(entry(one + "c"), code)
            else:
                folder, file = os.path.split(one)
                new.writestr(entry(one), data)
                new.writestr(entry(os.path.join(folder, "__pycache__", f"{file[:-3]}.{TAG}.pyc")), code)
    with open(name, "wb") as file:
        file.write(out.getvalue())

for name in names:
    compile_in("/site/" + name, "/app/" if name == "app.zip" else f"/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/")
`);
for (const row of Object.values(lock.packages)) {
  row.sha256 = crypto.createHash('sha256').update(fs.readFileSync(`${site}/pyodide/${row.file_name}`)).digest('hex');
}
fs.writeFileSync(lockFile, JSON.stringify(lock));
process.exit(0);
