() => {
    const targets = `button, a[href], summary, input, select, textarea, [role=button], [role=radio], [role=switch],
        [role=checkbox], [role=option], [role=combobox], [data-rac]:has(> [data-testid=stSliderThumbValue])`;
    const above = (place) => place.parentElement ?? place.getRootNode().host;
    const pointed = (place) => getComputedStyle(place).cursor === 'pointer' && getComputedStyle(above(place)).cursor !== 'pointer';
    const clipped = (place) => place && (getComputedStyle(place).clipPath === 'inset(50%)' || clipped(above(place)));
    const said = (place) => place?.textContent.trim();
    const withinWords = (place) => place.matches('a, .term > *') && said(place.closest('p, li, td') ?? place) !== said(place);
    const at = (x, y, root = document) => {
        const hit = root.elementFromPoint(x, y);
        return hit?.shadowRoot && hit.shadowRoot !== root ? at(x, y, hit.shadowRoot) ?? hit : hit;
    };
    const meets = (place, x, y) => {
        let hit = at(x, y);
        while (hit && hit !== place) hit = above(hit);
        return hit === place;
    };
    const reached = (place) => {
        place.scrollIntoView({ block: 'center', inline: 'nearest' });
        const { left, top, width, height } = place.getBoundingClientRect();
        const [x, y] = [left + width / 2, top + height / 2];
        const [aside, away] = [width > 43 ? 0 : 21, height > 43 ? 0 : 21];
        return [-1, 1].every((way) => meets(place, x + way * aside, y) && meets(place, x, y + way * away));
    };
    const small = new Map();
    const visit = (root) => {
        for (const element of root.querySelectorAll('*')) {
            if (element.shadowRoot) visit(element.shadowRoot);
            if (!(element.matches(targets) || pointed(element)) || element.matches(':disabled') || withinWords(element)) continue;
            const place = element.closest('label') ?? element;
            if (!place.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || clipped(element)) continue;
            const { width, height, left, right } = place.getBoundingClientRect();
            if (width < 2 || right < 0 || left > innerWidth || (width > 43 && height > 43) || reached(place)) continue;
            small.set(place, `${said(place).slice(0, 30)}: ${Math.round(width)} x ${Math.round(height)}`);
        }
    };
    visit(document.body);
    return [...small.values()];
}
