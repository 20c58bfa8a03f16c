// The page's side: Streamlit's socket becomes a channel to the worker that runs Python, and the still first page is
// shown until the app has drawn its own. Runs before Streamlit's scripts.

(() => {
  const base = new URL(document.currentScript.dataset.base, location.href);
  const worker = new Worker(new URL('worker.js', base));
  const began = performance.now();
  const sockets = new Map();
  const asked = new Map();
  let number = 0;
  window.shardlab_stages = { page: 0 };
  window.shardlab_base = base.href;
  window.__streamlit = { BACKEND_BASE_URL: base.href, HOST_CONFIG_BASE_URL: base.href, MAIN_PAGE_BASE_URL: base.href };

  const headers = () => Object.entries({
    host: location.host, 'user-agent': navigator.userAgent, 'accept-language': navigator.languages.join(','),
    cookie: document.cookie,
  }).map(([name, value]) => `${name}: ${value}`).join('\n');

  class Channel extends EventTarget {
    static CONNECTING = 0; static OPEN = 1; static CLOSING = 2; static CLOSED = 3;

    constructor(url, protocols) {
      super();
      Object.assign(this, { url, readyState: 0, binaryType: 'arraybuffer', protocol: '', bufferedAmount: 0, extensions: '', visit: ++number });
      sockets.set(this.visit, this);
      // at once: Streamlit gives up on a socket that takes as long as Python does, and its messages wait in the worker
      setTimeout(() => this.accept('streamlit'));
      worker.postMessage({ is: 'open', visit: this.visit, path: '/_stcore/stream', protocols: [].concat(protocols || []).join(','), headers: headers() });
    }

    happen(event) { this[`on${event.type}`]?.(event); this.dispatchEvent(event); }

    accept(protocol) { if (this.readyState) return; Object.assign(this, { readyState: 1, protocol }); this.happen(new Event('open')); }

    send(message) { const data = new Uint8Array(message).slice().buffer; worker.postMessage({ is: 'in', visit: this.visit, data }, [data]); }

    close(code = 1000) { worker.postMessage({ is: 'close', visit: this.visit }); this.ended(code); }

    ended(code) {
      if (this.readyState === 3) return;
      this.readyState = 3;
      sockets.delete(this.visit);
      this.happen(new CloseEvent('close', { code, wasClean: code === 1000 }));
    }
  }

  const Socket = window.WebSocket;
  window.WebSocket = new Proxy(Socket, {
    construct: (_, [url, protocols]) => (String(url).includes('_stcore/stream') ? new Channel(String(url), protocols) : new Socket(url, protocols)),
  });

  const ask = (method, at, lines, body) => new Promise((answer) => {
    asked.set(++number, answer);
    worker.postMessage({ is: 'ask', number, method, path: at, headers: lines, body }, body ? [body] : []);
  });

  // What a service worker hands on: uploads, and files that Python keeps.
  navigator.serviceWorker?.addEventListener('message', async ({ data, ports }) => {
    if (data.is !== 'ask') return;
    const lines = [headers(), ...(data.type ? [`content-type: ${data.type}`] : [])].join('\n');
    const answer = await ask(data.method, data.path, lines, data.body);
    ports[0].postMessage(answer, answer.body ? [answer.body] : []);
  });

  // A link that downloads passes a service worker by: its file is taken first.
  const click = HTMLAnchorElement.prototype.click;
  HTMLAnchorElement.prototype.click = function clicked() {
    const at = new URL(this.href || '.', base);
    const within = at.pathname.slice(base.pathname.length - 1);
    if (at.origin !== base.origin || !within.startsWith('/media/')) { click.call(this); return; }
    ask('GET', within + at.search, headers(), null).then(({ headers: pairs, body }) => {
      const told = Object.fromEntries(pairs);
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([body], { type: told['content-type'] }));
      link.download = this.download || /filename="?([^";]+)/.exec(told['content-disposition'] || '')?.[1] || 'file';
      click.call(link);
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    });
  };

  const line = () => document.getElementById('still_line');
  const words = JSON.parse(document.getElementById('still_words').textContent);
  const asks = () => new URLSearchParams(location.search).get('lang') || navigator.languages.map((one) => one.slice(0, 2)).find((one) => words[one]);
  const lang = words[asks()] ? asks() : 'en';
  const said = words[lang];
  const megabytes = (count) => (count / 1e6).toFixed(1);
  const say = (text) => { if (line()) line().firstChild.textContent = text; };
  document.getElementById('still').lang = lang;
  for (const one of document.querySelectorAll('#still [data-word]')) one.textContent = said[one.dataset.word];
  say(said.loading.replace('{loaded}', '0').replace('{wanted}', '…'));

  // The still page goes when the app has drawn a heading or a scene of its own.
  const alive = () => document.querySelector('[data-testid="stMain"] h1, [data-testid="stMain"] [role="radiogroup"]');
  const seen = new MutationObserver(() => {
    if (!alive()) return;
    seen.disconnect();
    document.getElementById('still')?.remove();
    window.shardlab_stages.alive = performance.now();
    keep();
  });
  seen.observe(document, { childList: true, subtree: true });

  // A run that waits for a pack can say nothing itself: the page does, until the run's first message.
  const wait = (name) => {
    if (line() || document.getElementById('later')) return;
    const later = document.createElement('p');
    const language = words[asks()] ? asks() : 'en';
    Object.assign(later, { id: 'later', lang: language });
    later.setAttribute('role', 'status');
    document.body.append(later);
    later.textContent = words[language][name];
  };

  let whole = false;
  const keep = async () => {
    if (!whole || !window.shardlab_stages.alive) return;
    const service = await navigator.serviceWorker?.ready;
    service?.active?.postMessage({ is: 'keep' });
  };

  worker.onmessage = ({ data: told }) => {
    if (told.is === 'sent') document.getElementById('later')?.remove();
    if (told.is === 'sent') sockets.get(told.visit)?.happen(new MessageEvent('message', { data: told.data }));
    else if (told.is === 'ended') sockets.get(told.visit)?.ended(1001);
    else if (told.is === 'answer') { asked.get(told.number)?.(told); asked.delete(told.number); }
    else if (told.is === 'bytes') {
      say(said.loading.replace('{loaded}', megabytes(told.loaded)).replace('{wanted}', megabytes(told.wanted)));
      document.getElementById('still_bar')?.setAttribute('value', Math.min(1, told.loaded / told.wanted));
    } else if (told.is === 'stage') {
      window.shardlab_stages[told.stage] = performance.now() - began;
      if (said[told.stage]) say(said[told.stage]);
      if (told.stage === 'whole') { whole = true; keep(); }
    } else if (told.is === 'later') wait(told.name);
    else if (told.is === 'failed') { say(`${said.failed} ${told.text.split('\n')[0]}`); console.error(told.text); }
    else if (told.is === 'log') (told.bad ? console.warn : console.log)(told.text);
  };
  worker.onerror = (event) => { say(`${said.failed} ${event.message}`); };
  window.shardlab_memory = () => worker.postMessage({ is: 'memory' });

  navigator.serviceWorker?.register(new URL('service.js', base));
})();
