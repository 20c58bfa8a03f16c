"""docs/instructor.md cannot rot: its links open what they name, its minutes add up, its numbers are computed."""

import re
import shlex
from functools import cache
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.collectives.cost import one_shot_all_reduce
from core.comm_cost.bill import Step, bill
from core.comm_cost.readings import readings
from core.course.labs_own import ASKED_RANKS, LARGE
from core.course.start_here import forward_pass, gpus_to_hold, message, ridge_tokens, ring_chunks_sent
from core.models.parameters import count_parameters
from core.pipeline_bubble.bubble import formulas
from core.scenario import Scenario
from core.steps.model import decode_step_s
from core.two_way_tp.reconcile import slowdown
from core.units import percent, plain, seconds
from runtime import captures, content
from runtime.quantities import percents
from scripts import classroom, grade
from tests.each import each
from ui.course.pages import OVERVIEW, PAGES, entry
from ui.paths import PATHS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/instructor.md").read_text(encoding="utf-8")
LINK = re.compile(r"\[([^\]]+)\]\(http://localhost:8501/([^)]*)\)")


def scene_links(guide: str) -> list[tuple[str, str]]:
    """The links that are a scene's name: not those that open a path or its notes."""
    return [(words, address) for words, address in LINK.findall(guide) if "path=" not in address]


LINKS = sorted(set(scene_links(GUIDE)))
STEP = re.compile(r"^1\. (\d+) min: ([^,]+), \[[^\]]+\]\(http://localhost:8501/([^)]*)\)$", re.MULTILINE)
ROW = re.compile(r"^\| \[[^\]]+\]\(http://localhost:8501/([^)]*)\) \| (\d+) \| \S.* \|$", re.MULTILINE)
SPANISH = (ROOT / "docs/instructor.es.md").read_text(encoding="utf-8")
LABS_OWN = Scenario()
TEACHES_NOTHING_NEW = {"quiz", "find_it"}
"""Pages over what the others teach: they have no wrong answers of their own."""


def section(title: str) -> str:
    """What stands under a heading, up to the next heading of its level or above."""
    level, body = re.split(rf"^(#+) {re.escape(title)}$", GUIDE, maxsplit=1, flags=re.MULTILINE)[1:]
    return re.split(rf"^#{{1,{len(level)}}} ", body, maxsplit=1, flags=re.MULTILINE)[0]


def scene_of(address: str) -> tuple[str, str]:
    """The page and the scene that an address names."""
    parts = urlsplit(address)
    query = parse_qs(parts.query)
    return parts.path, query[f"{entry(parts.path).prefix}_scene"][0]


@pytest.mark.parametrize(("words", "address"), LINKS, ids=lambda part: part)
def test_a_link_opens_the_scene_it_names(words, address):
    stem, scene = scene_of(address)
    page = entry(stem)
    app = AppTest.from_file(str(ROOT / "streamlit_app.py"), default_timeout=60)
    for name, values in parse_qs(urlsplit(address).query).items():
        app.query_params[name] = values[0]
    app.switch_page(page.path)
    app.run()
    assert not app.exception
    assert page.scenes[scene] == words
    assert app.segmented_control(key=f"scenes_{page.prefix}").value == scene
    assert any(element.value.endswith(f": {words}") for element in app.markdown)
    assert not any("Ignored in the address" in element.value for element in app.markdown)


@each("page", [page for page in PAGES if page is not OVERVIEW])
def test_every_page_has_its_objectives_its_minutes_and_its_wrong_answers(page):
    text = section(page.title)
    rows = [scene_of(address) for address, _ in ROW.findall(text)]
    assert rows == [(page.stem, scene) for scene in page.names]
    objectives, _, wrong = text.partition("| scene | minutes |")
    assert len(re.findall(r"^- ", objectives, re.MULTILINE)) >= 2
    assert page.stem in TEACHES_NOTHING_NEW or re.search(r"What is heard instead.*\n\n- ", wrong)


@pytest.mark.parametrize(("title", "minutes"), [("Fifty minutes", 50), ("Eighty minutes", 80)])
def test_a_path_takes_its_time_and_every_step_as_long_as_its_page_says(title, minutes):
    of_scene = {address: int(number) for address, number in ROW.findall(GUIDE)}
    steps = STEP.findall(section(title))
    assert sum(int(number) for number, _, _ in steps) == minutes
    for number, page, address in steps:
        assert int(number) == of_scene[address]
        assert page == entry(scene_of(address)[0]).title


def test_the_paths_that_next_and_back_follow_are_the_guides():
    for name, title in (("50", "Fifty minutes"), ("80", "Eighty minutes")):
        steps = [(*scene_of(address), int(minutes)) for minutes, _, address in STEP.findall(section(title))]
        assert [(stop.stem, stop.scene, stop.minutes) for stop in PATHS[name]] == steps


def test_a_path_goes_through_the_course_in_its_order():
    order = [page.stem for page in PAGES]
    for title in ("Fifty minutes", "Eighty minutes"):
        places = [order.index(scene_of(address)[0]) for _, _, address in STEP.findall(section(title))]
        assert places == sorted(places)


def timed(text: str) -> list[tuple[tuple[str, str], str]]:
    """The minutes of every row and of every step, with the scene they are for."""
    return [(scene_of(address), minutes) for address, minutes in ROW.findall(text)] + [
        (scene_of(address), minutes) for minutes, _, address in STEP.findall(text)
    ]


def test_the_spanish_guide_leads_to_the_same_scenes_in_spanish():
    """The same links in the same order, each in Spanish and by its Spanish name, with the same minutes."""
    leads = scene_links(SPANISH)
    assert [scene_of(address) for _, address in leads] == [scene_of(address) for _, address in scene_links(GUIDE)]
    assert timed(SPANISH) == timed(GUIDE)
    with content.speaking("es"):
        for words, address in leads:
            stem, scene = scene_of(address)
            assert parse_qs(urlsplit(address).query)["lang"] == ["es"]
            assert entry(stem).scenes[scene] == words


@cache
def computed() -> frozenset[str]:
    """Every number the guide says in bold, each from the function that the page of its question asks."""
    model, gpu = LABS_OWN.model_spec, LABS_OWN.gpu_spec
    step_s = decode_step_s(model, gpu)
    far, token = message(8192, LABS_OWN.network_spec), forward_pass(model, gpu, 1)
    step = Step(model, 2, compute_s=step_s)
    priced = bill(step, LABS_OWN.network_spec)
    read = {one.key: one.bill.comm_fraction for one in readings(step, LABS_OWN.network_spec)}
    per_layer = step.all_reduces // model.num_hidden_layers
    matrices = 7 if count_parameters(model).head else 0
    return frozenset(
        [
            percent(far.latency_fraction, 0),
            seconds(far.bandwidth_s),
            str(ring_chunks_sent(ASKED_RANKS)),
            str(ring_chunks_sent(ASKED_RANKS) // 2),
            plain(ASKED_RANKS * one_shot_all_reduce(1, ASKED_RANKS, LABS_OWN.link_spec).traffic_bytes),
            seconds(token.memory_s),
            f"{1e3 * token.arithmetic_s:.4f} ms",
            str(round(ridge_tokens(gpu))),
            str(gpus_to_hold(LARGE, gpu)),
            str(step.all_reduces),
            str(matrices * model.num_hidden_layers),
            str(step.all_reduces // per_layer),
            str(2 * step.all_reduces),
            percent(read["labs"]),
            percent(priced.comm_s / step_s),
            percent(read["divided_step"]),
            percent(read["hop_from_round_trip"]),
            percent(priced.bandwidth_s / (step_s + priced.bandwidth_s)),
            *(percent(float(formula.fraction)) for formula in formulas(8, 16)),
            f"{slowdown(captures.load('gloo-cpu').log):.1f} times",
        ]
    )


def test_every_number_in_bold_is_computed_and_every_computed_one_is_said():
    said = {number.replace("\u00a0", " ") for number in re.findall(r"\*\*([^*\n]*\d[^*\n]*)\*\*", GUIDE)}
    assert said == {percents(number).replace("\u00a0", " ") for number in computed()}


def test_every_command_of_the_grader_is_one_it_takes():
    """Parsed by the graders' own parsers, to the last option."""
    commands = re.findall(r"python -m scripts\.(grade|classroom) ([^\n#]*)", GUIDE)
    whats = set()
    for program, command in commands:
        options = {"grade": grade, "classroom": classroom}[program].make_parser().parse_args(shlex.split(command))
        whats.add(getattr(options, "what", "practice"))
        assert options.lab == (None if getattr(options, "what", "") == "seed" else "lab-03")
    assert whats == {*classroom.NEEDED, "practice"}
