// What the browser can show by itself: a figure whose Vega-Lite has a parameter `live_` and a control's key, and the
// control of that key. Vega gives such a parameter a field of its own, hidden by the style sheet; a slider's value is put
// there as it moves, before the server has heard of it.

const KEY = /(?:^| )st-key-(\S+)/;

function showLive(slider) {
  const key = KEY.exec(slider.closest('[class*="st-key-"]')?.className)?.[1];
  const field = key && document.querySelector(`.vega-bindings input[name="live_${CSS.escape(key)}"]`);
  if (!field || field.value === slider.value) return;
  field.value = slider.value;
  field.dispatchEvent(new Event('input'));
}

new MutationObserver((changes) => changes.forEach(({ target }) => { if (target.type === 'range') showLive(target); }))
  .observe(document.body, { subtree: true, attributeFilter: ['aria-valuetext'] });
