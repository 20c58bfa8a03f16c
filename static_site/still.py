"""The page before Python stands: Streamlit's own, a still picture over it, and a line of progress."""

import json
from html import escape
from pathlib import Path

from runtime import content
from ui.course.pages import OVERVIEW, PAGES, Entry
from ui.overview import drawing, words
from ui.prose import plain_text, prose_of
from ui.theme import DARK, LIGHT, Palette

STYLE = f"""
#still {{ position: fixed; inset: 0; z-index: 1000000; overflow: hidden; box-sizing: border-box;
  padding: 4.5rem 6vw 2rem; background: {LIGHT.ground}; color: {LIGHT.text};
  font: 17px/1.5 "Source Sans", system-ui, sans-serif; }}
#still > * {{ max-width: 1160px; margin: 0 auto 1.2rem; }}
#still h1 {{ font: 500 2.1rem/1.18 "Source Serif", Georgia, serif; letter-spacing: -0.01em; padding: 0; }}
#still svg {{ width: 245px; height: 140px; margin: 0 2.5rem 1rem 0; }}
#still progress {{ display: block; width: min(24rem, 100%); height: 4px; margin-top: 0.4rem; }}
#still ~ #root {{ visibility: hidden; }}
#still .dark {{ display: none; }}
#later {{ position: fixed; inset: auto 0 0 0; z-index: 1000000; margin: 0; padding: 0.6rem 6vw;
  background: {LIGHT.text}; color: {LIGHT.ground}; font: 16px/1.5 "Source Sans", system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{
  #still {{ background: {DARK.ground}; color: {DARK.text}; }}
  #still .light {{ display: none; }} #still .dark {{ display: block; }}
}}
"""


def pages(index: str) -> dict[str, str]:
    """Every address's page by its path, made of Streamlit's index."""
    made = {"index.html": _page(index, OVERVIEW, "./")}
    for entry in PAGES:
        made[f"{entry.stem}/index.html"] = _page(index, entry, "../")
    made["404.html"] = _lost()
    return made


def _page(index: str, entry: Entry, base: str) -> str:
    said = {name: _said(entry, name) for name in content.finished()}
    # in a script element `</` would end it
    data = json.dumps(said, ensure_ascii=False).replace("</", "<\\/")
    first = said[content.ENGLISH]
    pictures = _pictures(LIGHT, "light") + _pictures(DARK, "dark") if entry is OVERVIEW else ""
    lead = f'<p data-word="lead">{escape(first["lead"])}</p>' if "lead" in first else ""
    still = (
        f'<div id="still"><h1 data-word="title">{escape(first["title"])}</h1>{lead}{pictures}'
        '<p id="still_line" role="status"><span></span><progress id="still_bar" value="0" max="1"'
        f' aria-hidden="true"></progress></p><p data-word="why">{escape(first["why"])}</p>'
        f"<noscript>{escape(first['no_script'])}</noscript></div>"
        f'<script type="application/json" id="still_words">{data}</script>'
        f'<script src="page.js" data-base="{base}"></script>'
    )
    head = f'<head><base href="{base}"><style>{STYLE}</style>'
    page = index.replace("<head>", head, 1).replace("<title>Streamlit</title>", f"<title>{_tab(entry)}</title>")
    body = page.index("<body>") + len("<body>")
    return page[:body] + still + page[body:]


def _tab(entry: Entry) -> str:
    return "Shardlab" if entry is OVERVIEW else f"{escape(entry.title)} · Shardlab"


def _said(entry: Entry, language: str) -> dict[str, str]:
    with content.speaking(language):
        said = dict(content.load("static_site"))
        if entry is OVERVIEW:
            prose = prose_of("overview", {**words.fields()})
            return {**said, "title": plain_text(prose.text("title")), "lead": plain_text(prose.text("lead"))}
        return {**said, "title": entry.title}


def _pictures(palette: Palette, mode: str) -> str:
    """The overview's pictures of what the labs draw, as the page itself has them."""
    prose = prose_of("overview", {**words.fields()})
    bills = list(zip(("NVLink", "10 GbE"), words.lab_bills(), strict=True))
    alone = prose.plain("comm_cost.one_gpu")
    drawn = (
        drawing.sharded_layer(4, palette, prose.plain("sharding_math.alt")),
        drawing.two_bills(alone, bills, palette, prose.plain("comm_cost.alt"), answered=False),
        drawing.small_schedule(
            words.drawn_schedule(), words.DRAWN_STAGES, palette, prose.plain("pipeline_bubble.alt")
        ),
    )
    return f'<div class="{mode}">{"".join(drawn)}</div>'


def _lost() -> str:
    """What a host shows for an address that is no page: the way to the first one."""
    stems = json.dumps([entry.stem for entry in PAGES])
    return f"""<!doctype html><meta charset="utf-8"><title>Shardlab</title>
<p><a id="first" href="./">Shardlab</a></p>
<script>
const parts = location.pathname.split('/');
const at = parts.findIndex((part) => {stems}.includes(part));
const base = (at > 0 ? parts.slice(0, at) : parts.slice(0, 2)).join('/') + '/';
document.getElementById('first').href = base;
</script>"""


def lay_pages(out: Path) -> None:
    """Write a page for each address in the place of Streamlit's one."""
    index = (out / "index.html").read_text(encoding="utf-8")
    for name, page in pages(index).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(page, encoding="utf-8")
