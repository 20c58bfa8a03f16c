() => {
    const seen = [], hidden = '.katex-mathml, style, script';
    const seeable = { visibilityProperty: true, opacityProperty: true };
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const rgba = (colour) => {
        probe.clearRect(0, 0, 1, 1);
        Object.assign(probe, { fillStyle: colour }).fillRect(0, 0, 1, 1);
        return [...probe.getImageData(0, 0, 1, 1).data];
    };
    const above = (place) => place.parentElement ?? place.getRootNode().host;
    // said aloud alone: nothing of it is in sight
    const clipped = (place) => place && (getComputedStyle(place).clipPath === 'inset(50%)' || clipped(above(place)));
    const faded = (place) => (place ? Number(getComputedStyle(place).opacity) * faded(above(place)) : 1);
    const add = (place, words, px, boxes, colour, alpha) => {
        const held = place.closest('.controls');
        const foot = place.closest('.st-key-foot') ?? (held && getComputedStyle(held).position === 'fixed');
        for (const { left, top, right, bottom } of boxes) {
            if (right - left < 3 || bottom - top < 3 || right < 0) continue;
            const box = [Math.max(0, left), Math.max(0, top), Math.min(innerWidth, right), Math.min(innerHeight, bottom)];
            const ink = { rgba: rgba(colour), alpha: alpha * faded(place) };
            seen.push({ words: words.trim().slice(0, 40), px, bottom: foot ? 0 : bottom, box, ...ink });
        }
    };
    const visit = (root) => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
        for (let node = walk.nextNode(); node; node = walk.nextNode()) {
            if (node.shadowRoot) visit(node.shadowRoot);
            const place = node.nodeType === 1 ? node : node.parentElement;
            const drawn = node.nodeType === 1 && (node.tagName === 'svg' || node.tagName === 'CANVAS');
            if (node.nodeType === 1 ? !drawn : !/[\p{L}\p{N}]/u.test(node.textContent)) continue;
            if (place.closest(hidden) || !place.checkVisibility(seeable) || clipped(place)) continue;
            if (drawn) {
                add(place, place.tagName, Infinity, [place.getBoundingClientRect()], '#0000', 1);
                continue;
            }
            const range = document.createRange();
            range.selectNodeContents(node);
            const style = getComputedStyle(place), ctm = place.ownerSVGElement && place.getScreenCTM();
            const px = parseFloat(style.fontSize) * (ctm ? Math.hypot(ctm.a, ctm.b) : place.currentCSSZoom);
            add(place, node.textContent, px, range.getClientRects(), ctm ? style.fill : style.color, 1);
        }
    };
    visit(document.querySelector('[data-testid="stMainBlockContainer"]'));
    for (const { words, px, ends, canvas, colour, alpha } of window.ink ?? []) {
        if (!canvas.isConnected || !canvas.checkVisibility(seeable) || !/[\p{L}\p{N}]/u.test(words)) continue;
        const at = canvas.getBoundingClientRect(), scale = at.width / canvas.width;
        const [left, right] = ends.map(({ x }) => at.left + scale * x).sort((a, b) => a - b);
        const [top, bottom] = ends.map(({ y }) => at.top + scale * y).sort((a, b) => a - b);
        add(canvas, words, px, [{ left, right, top, bottom }], colour, alpha);
    }
    const least = seen.reduce((a, b) => (b.px < a.px ? b : a));
    const lowest = seen.reduce((a, b) => (b.bottom > a.bottom ? b : a));
    const end = document.querySelector('.st-key-foot')?.getBoundingClientRect().top ?? innerHeight;
    return {
        least: Math.round(least.px * 10) / 10,
        smallest: least.words,
        under: Math.round(lowest.bottom - end),
        lowest: lowest.words,
        ruled: [...document.querySelectorAll('tr')].filter((row) => row.checkVisibility() && !row.checkVisibility(seeable))
            .filter(({ cells }) => cells.length && rgba(getComputedStyle(cells[0]).borderBottomColor)[3]).length,
        aside: document.documentElement.scrollWidth - innerWidth,
        screen: document.documentElement.style.getPropertyValue('--screen'),
        letters: seen.filter(({ px, box }) => px < Infinity && box[3] > box[1] && box[2] > box[0]),
    };
}
