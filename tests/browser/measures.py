"""What the eye and the finger would measure of a page: type, what is under the foot, what is too small to touch."""

import re

INK = """(() => {
    const write = CanvasRenderingContext2D.prototype.fillText;
    window.ink = [];
    CanvasRenderingContext2D.prototype.fillText = function (words, ...rest) {
        const px = Math.abs(this.getTransform().d) * parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
        window.ink.push([String(words), px / devicePixelRatio]);
        return write.call(this, words, ...rest);
    };
})()"""
"""Run before the page: what is written on a canvas leaves its size here."""

TYPE = """() => {
    const seen = [], hidden = '.live, #shell-said, .katex-mathml, style, script';
    const seeable = { visibilityProperty: true, opacityProperty: true };
    const visit = (root) => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (node.shadowRoot) visit(node.shadowRoot);
            const place = node.nodeType === 1 ? node : node.parentElement;
            const drawn = node.nodeType === 1 && (node.tagName === 'svg' || node.tagName === 'CANVAS');
            if (node.nodeType === 1 ? !drawn : !/[\\p{L}\\p{N}]/u.test(node.textContent)) continue;
            if (place.closest(hidden) || !place.checkVisibility(seeable)) continue;
            const range = document.createRange();
            range.selectNode(node);
            const box = drawn ? node.getBoundingClientRect() : range.getBoundingClientRect();
            if (box.width < 3 || box.height < 3 || box.right < 0) continue;
            const font = parseFloat(getComputedStyle(place).fontSize);
            const ctm = place.ownerSVGElement && place.getScreenCTM();
            const px = drawn ? Infinity : font * (ctm ? Math.hypot(ctm.a, ctm.b) : place.currentCSSZoom);
            const held = place.closest('.controls');
            const foot = place.closest('.st-key-foot') ?? (held && getComputedStyle(held).position === 'fixed');
            const words = drawn ? place.tagName : node.textContent.trim().slice(0, 40);
            seen.push({ words, px, bottom: foot ? 0 : box.bottom });
        }
    };
    visit(document.querySelector('[data-testid="stMainBlockContainer"]'));
    const written = window.ink.filter(([words]) => /[\\p{L}\\p{N}]/u.test(words));
    const all = [...seen, ...written.map(([words, px]) => ({ words, px, bottom: 0 }))];
    const least = all.reduce((a, b) => (b.px < a.px ? b : a));
    const lowest = all.reduce((a, b) => (b.bottom > a.bottom ? b : a));
    const end = document.querySelector('.st-key-foot').getBoundingClientRect().top;
    return {
        least: Math.round(least.px * 10) / 10,
        smallest: least.words,
        under: Math.round(lowest.bottom - end),
        lowest: lowest.words,
        aside: document.documentElement.scrollWidth - innerWidth,
        screen: document.documentElement.style.getPropertyValue('--screen'),
    };
}"""
"""The least type in sight, how far the lowest reaches under the foot, and which screen this is of how many."""


def screens(page) -> list[dict]:
    """The measures of each screen of the projected scene that is open; the first is in sight again after."""
    found = [page.evaluate(TYPE)]
    most = (re.findall(r"/(\d+)", found[0]["screen"]) or ["1"])[0]
    for _ in range(int(most) - 1):
        page.keyboard.press("PageDown")
        page.wait_for_timeout(60)
        found.append(page.evaluate(TYPE))
    for _ in found[1:]:
        page.keyboard.press("PageUp")
    return found


TOUCH = """() => {
    const small = [];
    const targets = 'button, a[href], summary, [role=button], [role=tab], [role=radio], [role=switch]';
    const visit = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) visit(element.shadowRoot);
            if (!element.matches(targets) || element.closest('p, li, td, svg')) continue;
            if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
            const { width, height, left, right } = (element.closest('label') ?? element).getBoundingClientRect();
            if (width < 2 || right < 0 || left > innerWidth || (width > 43 && height > 43)) continue;
            small.push(`${element.textContent.trim().slice(0, 30)}: ${Math.round(width)} x ${Math.round(height)}`);
        }
    };
    visit(document.body);
    return small;
}"""
"""What a finger would miss: targets under 44 px, but for words within a line and the cells of a drawing."""

HEADLESS = """() => [...document.querySelectorAll('table')].flatMap((table) => {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    const told = (cell) => getComputedStyle(cell, '::before').content.replaceAll('"', '').slice(0, 8);
    return [...table.querySelectorAll('tbody td')].filter((cell) => {
        const head = heads[cell.cellIndex];
        if (!head?.textContent.trim() || !cell.textContent.trim() || !cell.checkVisibility()) return false;
        return !head.checkVisibility() && !(told(cell) && head.textContent.includes(told(cell)));
    }).map((cell) => `${cell.textContent.trim().slice(0, 40)}: without its column's name`);
})"""
"""The cells of a table whose head is out of sight, and that do not say it themselves."""
