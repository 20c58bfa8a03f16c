// What the browser can show by itself: each figure whose Vega-Lite has a parameter `live_` and a control's key, and the
// control of that key. Vega gives such a parameter a field of its own, hidden by the style sheet; a slider's value, or
// which of a row of buttons is picked, is put there before the server has heard of it. Players hear of it as `live`.

const KEY = /(?:^| )st-key-(\S+)/;

function showLive(control, value) {
  const key = KEY.exec(control.closest('[class*="st-key-"]')?.className)?.[1];
  if (!key) return;
  window.dispatchEvent(new CustomEvent('live', { detail: { key, value } }));
  const fields = document.querySelectorAll(`.vega-bindings input[name="live_${CSS.escape(key)}"]`);
  for (const field of fields) {
    if (field.value === value) continue;
    field.value = value;
    field.dispatchEvent(new Event('input'));
  }
}

function hearLive({ target, attributeName }) {
  if (attributeName === 'aria-valuetext' && target.type === 'range') showLive(target, target.value);
  if (attributeName !== 'aria-checked' || target.ariaChecked !== 'true') return;
  showLive(target, String([...(target.closest('[role=radiogroup]')?.querySelectorAll('[role=radio]') ?? [])].indexOf(target)));
}

new MutationObserver((changes) => changes.forEach(hearLive))
  .observe(document.body, { subtree: true, attributeFilter: ['aria-valuetext', 'aria-checked'] });
