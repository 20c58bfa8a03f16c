"""What a browser is told to note of a press: when it came, when its request left, and what was drawn when."""

NOTE = """(() => {
  window.changed = { asked: 0, sent: 0, came: 0, figure: 0, words: 0, target: null, pressed: null };
  const now = window.changed;
  const places = '[data-testid="stVegaLiteChart"], .player';
  const up = node => node.parentNode ?? node.host;
  const within = (node, wanted) => {
    while (node && node !== wanted) node = up(node);
    return Boolean(node);
  };
  const place = node => {
    while (node && !node.matches?.(places)) node = up(node);
    return node;
  };
  const drawings = 'svg.marks, canvas, .player svg'; // a chart's toolbar has icons, too
  const draws = node => node.nodeType === 1 && (node.matches(drawings) || node.querySelector(drawings));
  const note = (node, added) => {
    if (!now.asked || now.figure || !within(node, now.target)) return;
    if (now.pressed && within(node, now.pressed)) return;
    const figure = place(node);
    const element = node.nodeType === 1 ? node : node.parentElement;
    const isDrawn = figure?.matches('.player') || (figure && element?.closest('svg, canvas'));
    const isNew = [...added].some(draws);
    now[isDrawn || isNew ? 'figure' : 'words'] ||= performance.now();
  };
  const observer = new MutationObserver(changes =>
    changes.forEach(({ target, addedNodes }) => note(target, addedNodes)));
  const geometry = ['d', 'x', 'y', 'x1', 'x2', 'width', 'height', 'transform', 'points'];
  const look = (root, attributes) =>
    observer.observe(root, { subtree: true, childList: true, characterData: true, ...attributes });
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options);
    look(root, { attributes: true });
    return root;
  };
  look(document, { attributeFilter: geometry });
  for (const name of ['clearRect', 'fillRect', 'fillText', 'fill', 'stroke']) {
    const draw = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...rest) {
      if (place(this.canvas)) note(this.canvas, []);
      return draw.apply(this, rest);
    };
  }
  const ask = event => { if (!now.asked && now.target) now.asked = event.timeStamp; };
  for (const name of ['keydown', 'click']) window.addEventListener(name, ask, true);
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...data) {
    if (now.asked) now.sent ||= performance.now();
    return send.apply(this, data);
  };
  const listen = WebSocket.prototype.addEventListener;
  WebSocket.prototype.addEventListener = function (name, hear, ...rest) {
    const heard = event => {
      if (now.sent) now.came ||= performance.now();
      return hear.call(this, event);
    };
    return listen.call(this, name, name === 'message' ? heard : hear, ...rest);
  };
})()"""
"""Run before the page.

A figure is drawn when its geometry, its text or its canvas changes; one that is made anew when its drawing comes
in, not when the one before goes. What else changes are words. A change in what is pressed is no answer.
"""

AIM = """([figure, control]) => {
  const none = { asked: 0, sent: 0, came: 0, figure: 0, words: 0 };
  Object.assign(window.changed, none, { target: figure, pressed: control });
}"""
"""What the next press is about, and what is pressed: a change in there is no answer."""

SINCE = """() => Object.fromEntries(['sent', 'came', 'figure', 'words'].map(
  name => [name, changed[name] && changed[name] - changed.asked]))"""
"""How many ms after the press each was; 0 where it was not."""
