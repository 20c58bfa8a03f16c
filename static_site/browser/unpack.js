// Puts the files of a pack into Python's file system: a line of their names and lengths, then all of them, as gzip.

const NEWLINE = 10;

// The browser decompresses as it comes. Each file is a part of the one piece of memory that came, and no copy.
async function unpack(FS, packed) {
  const whole = new Uint8Array(await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
  const end = whole.indexOf(NEWLINE);
  const folders = new Set();
  let at = end + 1;
  for (const [name, length] of JSON.parse(new TextDecoder().decode(whole.subarray(0, end)))) {
    const path = `/${name}`;
    const folder = path.slice(0, path.lastIndexOf('/'));
    if (!folders.has(folder)) { FS.mkdirTree(folder); folders.add(folder); }
    FS.writeFile(path, whole.subarray(at, at += length), { canOwn: true });
  }
}

globalThis.unpack = unpack;
