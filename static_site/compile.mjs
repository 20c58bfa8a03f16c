// Compiles the Python in a folder's zips and wheels with the Pyodide that will run it: node compile.mjs SITE PYODIDE NAME...
// What is imported becomes bytecode alone, which is held to no source. The pages and labs stay as they are written:
// Streamlit reads the former as text, and pytest the latter.
import { pathToFileURL } from 'node:url';

const [site, pyodide, ...names] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${pyodide}/` });
python.FS.mkdirTree('/site');
python.FS.mount(python.FS.filesystems.NODEFS, { root: site }, '/site');
python.globals.set('names', python.toPy(names));
python.runPython(`
import importlib.util, io, marshal, re, warnings, zipfile
UNCHECKED = (0b01).to_bytes(4, "little") + bytes(8)
AS_WRITTEN = re.compile(r"^app/(pages|labs)/|^app/streamlit_app[.]py$")

def compile_in(name):
    out = io.BytesIO()
    library = name.startswith("pyodide/")
    kind, root = (zipfile.ZIP_DEFLATED, "") if library else (zipfile.ZIP_STORED, "/")
    with zipfile.ZipFile(f"/site/{name}") as old, zipfile.ZipFile(out, "w", kind, compresslevel=9) as new:
        for one in old.namelist():
            data = old.read(one)
            if one.endswith(".py") and not AS_WRITTEN.search(one):
                try:
                    code = compile(data, root + one, "exec", dont_inherit=True)
                except (SyntaxError, ValueError):
                    pass  # a sample of what no Python reads: it stays as it is
                else:
                    data, one = importlib.util.MAGIC_NUMBER + UNCHECKED + marshal.dumps(code), one + "c"
            made = zipfile.ZipInfo(one, (1980, 1, 1, 0, 0, 0))
            made.compress_type = kind
            new.writestr(made, data)
    with open(f"/site/{name}", "wb") as file:
        file.write(out.getvalue())

warnings.simplefilter("ignore")
for name in names:
    compile_in(name)
`);
process.exit(0);
