// Run before the page: what is written on a canvas leaves its size, place and colour in `window.ink`.
(() => {
    const write = CanvasRenderingContext2D.prototype.fillText;
    window.ink = [];
    CanvasRenderingContext2D.prototype.fillText = function (words, x, y, ...rest) {
        const at = this.getTransform(), letters = parseFloat(/([\d.]+)px/.exec(this.font)[1]);
        const wide = this.measureText(words).width, before = { right: 1, end: 1, center: 0.5 }[this.textAlign] ?? 0;
        const left = x - before * wide;
        const corners = [{ x: left, y: y - 0.75 * letters }, { x: left + wide, y: y + 0.2 * letters }];
        const ends = corners.map((corner) => at.transformPoint(corner));
        const px = letters * Math.hypot(at.a, at.b) / devicePixelRatio;
        const { canvas, fillStyle: colour, globalAlpha: alpha } = this;
        window.ink.push({ words: String(words), px, ends, canvas, colour, alpha });
        return write.call(this, words, x, y, ...rest);
    };
})();
