// Keeps the folder's files, so that a second visit asks the network for nothing, and hands uploads and downloads to the
// open page. A version is one cache; the files of another are let go when no page uses them any more.

const VERSION = 'SHARDLAB_VERSION';
const CACHE = `shardlab-${VERSION}`;
const base = new URL('./', self.location);

self.addEventListener('activate', (event) => event.waitUntil((async () => {
  const old = (await caches.keys()).filter((name) => name.startsWith('shardlab-') && name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
})()));

// Files that the first visit has fetched come from the browser's own store, not from the network again.
self.addEventListener('message', (event) => {
  if (event.data.is === 'keep') event.waitUntil(keep());
});

const keep = async () => {
  const cache = await caches.open(CACHE);
  const { files } = await (await fetch(new URL('parts.json', base), { cache: 'force-cache' })).json();
  for (const name of files) {
    const at = new URL(name, base);
    if (await cache.match(at)) continue;
    const answer = await fetch(at, { cache: 'force-cache' });
    if (answer.ok) await cache.put(at, answer);
  }
};

const fromPage = async (event, within) => {
  const known = event.clientId && await self.clients.get(event.clientId);
  const page = known || (await self.clients.matchAll({ type: 'window' }))[0];
  if (!page) return new Response('', { status: 503 });
  const { port1, port2 } = new MessageChannel();
  const answer = new Promise((come) => { port1.onmessage = ({ data }) => come(data); });
  const { request } = event;
  const body = request.method === 'GET' ? null : await request.arrayBuffer();
  page.postMessage({ is: 'ask', method: request.method, path: within, body, type: request.headers.get('content-type') }, [port2]);
  const { status, headers, body: whole } = await answer;
  return new Response(status === 204 ? null : whole, { status, headers: headers.filter(([name]) => name !== 'content-length') });
};

const fromFolder = async (request, at) => {
  const cache = await caches.open(CACHE);
  const plain = new URL(at.pathname.replace(/\/$/, '/index.html'), at);
  const page = request.mode === 'navigate' && !/\.\w+$/.test(at.pathname) && !at.pathname.endsWith('/')
    ? new URL(`${at.pathname}/index.html`, at) : plain;
  const kept = await cache.match(page, { ignoreSearch: true });
  if (kept && page !== plain) return Response.redirect(`${at.pathname}/${at.search}`, 302);
  return kept || fetch(request);
};

self.addEventListener('fetch', (event) => {
  const at = new URL(event.request.url);
  if (at.origin !== base.origin || !at.pathname.startsWith(base.pathname)) return;
  const within = at.pathname.slice(base.pathname.length - 1) + at.search;
  if (/^\/(media|_stcore\/upload_file)\//.test(within)) event.respondWith(fromPage(event, within));
  else if (event.request.method === 'GET') event.respondWith(fromFolder(event.request, at));
});
