"""What a visit's browser is sent: `Browser` keeps its elements as Streamlit's does, by App.tsx and AppRoot.ts."""

import asyncio
import random
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_cache import populate_hash_if_needed

from ui.drawn_content import SHELL, is_figure
from ui.only_changes import Shown

EMPTY = "nothing"


@dataclass
class Node:
    """An element by its text, or a block by its sort and its label."""

    said: str
    run: str
    below: dict[int, "Node"] = field(default_factory=dict)
    is_text: bool = False

    def takes_room(self):
        """Whether it is seen: a block is with whatever is in it, an empty element too."""
        return self.said != EMPTY and (self.is_text or bool(self.below))


class Browser:
    """A tree of nodes, each under the name of the run that sent it or anything in it."""

    def __init__(self) -> None:
        self.root, self.run, self.page, self.sent = Node("", ""), "", "", []
        self.shown = Shown(self.take)

    def take(self, message: ForwardMsg) -> None:
        self.sent.append(message)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.run = message.metadata.run.script_run_id
            if message.new_session.page_script_hash != self.page:
                self.page, self.root.below = message.new_session.page_script_hash, {}
        elif kind == "delta":
            self._put(list(message.metadata.delta_path), message.delta)
        elif message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY and kind == "script_finished":
            assert message.metadata.run.script_run_id == self.run
            self._clear(self.root)

    def _put(self, path, delta):
        node = self.root
        for step in path[:-1]:
            assert node is self.root or not node.is_text
            node = node.below.setdefault(step, Node("root", self.run)) if node is self.root else node.below[step]
            node.run = self.run
        before = node.below.get(path[-1])
        if delta.WhichOneof("type") == "new_element":
            element = delta.new_element
            text = EMPTY if element.HasField("empty") else element.markdown.body or element.vega_lite_chart.spec
            node.below[path[-1]] = Node(text, self.run, is_text=True)
            return
        sort = delta.add_block.WhichOneof("type")
        keeps = before is not None and before.said.startswith(f"{sort}:")
        node.below[path[-1]] = Node(f"{sort}:{delta.add_block.id}", self.run, before.below if keeps else {})

    def _clear(self, node):
        node.below = {at: below for at, below in node.below.items() if below.run == self.run}
        for below in node.below.values():
            self._clear(below)

    def tree(self, node=None):
        node = node or self.root
        return node.said, {at: self.tree(below) for at, below in node.below.items() if below.takes_room()}


def run_of(name, drawn, page="page", ends=ForwardMsg.FINISHED_SUCCESSFULLY, fragments=()):
    """The messages of a run that draws texts and blocks, as `(path, sort, text)`."""
    begun = ForwardMsg()
    begun.new_session.page_script_hash = page
    begun.metadata.run.script_run_id = name
    begun.metadata.run.fragment_ids.extend(fragments)
    status = ForwardMsg()
    status.session_status_changed.script_is_running = True
    yield from (begun, status)
    for path, sort, text in drawn:
        message = ForwardMsg()
        if sort == "text":
            message.delta.new_element.markdown.body = text
        elif sort == "figure":
            message.delta.new_element.vega_lite_chart.spec = text
        else:
            getattr(message.delta.add_block, sort).SetInParent()
            message.delta.add_block.id = text
        populate_hash_if_needed(message)
        message.metadata.delta_path.extend(path)
        yield message
    ended = ForwardMsg(script_finished=ends)
    ended.metadata.run.script_run_id = name
    ended.metadata.run.fragment_ids.extend(fragments)
    yield ended


def a_page(draw, path=(0,), deep=3):
    """A page of some texts and blocks, one in another."""
    for at in range(draw.randint(1, 4)):
        sort = draw.choice(["text", "figure", "flex_container", "column"] if deep else ["text", "figure"])
        yield (*path, at), sort, draw.choice("abc")
        if sort not in ("text", "figure"):
            yield from a_page(draw, (*path, at), deep - 1)


def changes(browser, messages):
    """What a browser was sent of a run, by kind."""
    browser.shown.send_what_waits()
    browser.sent.clear()
    for message in messages:
        browser.shown.take(message)
    return [message.WhichOneof("type") for message in browser.sent]


@pytest.fixture
def browser(monkeypatch):
    """A browser whose server waits for the end of each run: the loop's clock stands still."""
    loop = asyncio.new_event_loop()
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: loop)
    yield Browser()
    loop.close()


PAGE = [((0, 0), "text", "a"), ((0, 1), "column", "b"), ((0, 1, 0), "text", "c"), ((0, 1, 1), "text", "d")]


def test_a_run_that_changes_one_text_sends_that_text(browser):
    changes(browser, run_of("1", PAGE))
    assert not changes(browser, run_of("2", PAGE))
    assert changes(browser, run_of("3", [*PAGE[:3], ((0, 1, 1), "text", "e")])) == ["delta"]
    assert browser.tree()[1][0][1][1] == ("column:b", {0: ("c", {}), 1: ("e", {})})


def test_whatever_runs_come_a_browser_shows_what_the_last_one_drew(browser):
    draw = random.Random(16)
    for number in range(400):
        drawn = list(a_page(draw))
        early = draw.random() < 0.2
        messages = list(
            run_of(
                str(number),
                drawn,
                page=draw.choice(["page"] * 8 + ["another"]),
                ends=ForwardMsg.FINISHED_EARLY_FOR_RERUN if early else ForwardMsg.FINISHED_SUCCESSFULLY,
            )
        )
        if early:  # what waited in Streamlit's own queue is let go as another run begins
            del messages[draw.randrange(2, len(messages)) : -1]
        slow = draw.randrange(-4, len(messages))
        for at, message in enumerate(messages):
            browser.shown.take(message)
            if at == slow:
                browser.shown.wait_no_longer()
        if not early:
            fresh = Browser()
            changes(fresh, run_of(str(number), drawn))
            browser.shown.send_what_waits()
            assert browser.tree() == fresh.tree()


def test_what_acts_each_time_it_comes_is_sent_each_time(browser):
    def told(name):
        run = list(run_of(name, PAGE))
        slider = ForwardMsg()
        slider.delta.new_element.slider.set_value = True
        populate_hash_if_needed(slider)
        slider.metadata.delta_path.extend((0, 2))
        return [*run[:-1], slider, run[-1]]

    changes(browser, told("1"))
    assert changes(browser, told("2")).count("delta") == 1


def test_after_a_fragment_has_run_alone_a_run_is_sent_whole(browser):
    changes(browser, run_of("1", PAGE))
    changes(browser, run_of("2", PAGE[3:], ends=ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, fragments=["f"]))
    assert changes(browser, run_of("3", PAGE)).count("delta") == len(PAGE)


def test_after_a_run_that_ended_early_a_run_is_sent_whole(browser):
    """A browser that has not drawn the first of two runs of a page clears the page for the second, too."""
    changes(browser, run_of("1", PAGE, ends=ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    assert changes(browser, run_of("2", PAGE)).count("delta") == len(PAGE)


def test_a_run_that_takes_long_is_sent_whole(browser):
    changes(browser, run_of("1", PAGE))
    *begun, ended = run_of("2", PAGE)
    assert not changes(browser, begun)
    browser.shown.wait_no_longer()
    assert [one.WhichOneof("type") for one in browser.sent] == [
        "new_session",
        "session_status_changed",
        *["delta"] * 4,
    ]
    assert changes(browser, [ended]) == ["script_finished"]


def widgets(name, *ids):
    begun, status, ended = run_of(name, [])
    yield from (begun, status)
    for at, identity in enumerate(ids):
        message = ForwardMsg()
        message.delta.new_element.slider.id = identity
        populate_hash_if_needed(message)
        message.metadata.delta_path.extend((0, at))
        yield message
    yield ended


def test_where_a_widget_has_moved_a_run_is_sent_whole(browser):
    """A browser keeps a widget that finds its place taken until the run is over, by the run's own name."""
    changes(browser, widgets("1", "a", "b"))
    assert changes(browser, widgets("2", "a", "new", "b")).count("delta") == 3
    assert browser.run == "2"


RAN = ["new_session", "session_status_changed", "script_finished"]


def at_rest(browser):
    """What a browser is told when it has drawn what it was sent, by kind."""
    browser.sent.clear()
    browser.shown.send_what_waits()
    return [message.WhichOneof("type") for message in browser.sent]


def test_where_a_figure_has_moved_a_run_is_sent_whole_and_where_words_have_it_is_not(browser):
    """What a visitor did in a figure stays with its named block; words have nothing to keep."""

    def named(name, at, draws):
        begun, status, ended = run_of(name, [])
        block, inner = ForwardMsg(), ForwardMsg()
        block.delta.add_block.flex_container.SetInParent()
        block.delta.add_block.id = "named"
        getattr(inner.delta.new_element, draws).SetInParent()
        block.metadata.delta_path.extend((0, at))
        inner.metadata.delta_path.extend((0, at, 0))
        above = [message for message in run_of("", [((0, 0), "text", "above")]) if message.metadata.delta_path]
        for message in (block, inner):
            populate_hash_if_needed(message)
        return [begun, status, *above[:at], block, inner, ended]

    for draws in ("vega_lite_chart", "markdown"):
        browser.shown = Shown(browser.take)
        changes(browser, named("1", 0, draws))
        assert ("new_session" in changes(browser, named("2", 1, draws))) == (draws == "vega_lite_chart")


def test_a_figure_that_stands_in_its_place_comes_alone_before_its_run_has_ended(browser):
    """A browser draws what comes together together: words and fields would delay the figure that is pressed for."""

    def figured(name, text, sort="flex_container", *before):
        drawn = [((0, 0), "text", text), ((0, 1), sort, ""), *before, ((0, 1, 0), "figure", text)]
        return list(run_of(name, drawn))

    changes(browser, figured("1", "a"))
    *begun, ended = figured("2", "b")
    assert changes(browser, begun) == ["delta"]
    assert browser.sent[0].metadata.delta_path == [0, 1, 0]
    browser.shown.take(ended)
    assert at_rest(browser) == ["delta", *RAN]
    assert browser.sent[0].metadata.delta_path == [0, 0]
    assert not changes(browser, figured("3", "c", "column")[:-1])
    changes(browser, run_of("4", [], ends=ForwardMsg.FINISHED_EARLY_FOR_RERUN))
    changes(browser, figured("5", "c"))
    assert not changes(browser, figured("6", "d", "flex_container", ((0, 1, 0), "text", "not yet"))[:-1])


def test_words_that_stand_in_their_places_come_before_the_form_that_is_another(browser):
    """A question before what answers it, of a run without a figure; a new figure waits for no words."""

    def asked(name, text, *more):
        return run_of(name, [((0, 0), "text", text), ((0, 1), "form", text), ((0, 1, 0), "text", text), *more])

    changes(browser, asked("1", "a"))
    assert changes(browser, asked("2", "b")) == ["delta"]
    assert browser.sent[0].metadata.delta_path == [0, 0]
    assert at_rest(browser) == ["delta", "delta", *RAN]
    assert changes(browser, asked("3", "c", ((0, 2), "figure", "c"))) == ["delta"] * 3
    assert browser.sent[-1].metadata.delta_path == [0, 2]


def test_a_block_that_is_another_now_is_emptied_first(browser):
    """Of three columns one figure is left: they would be mounted anew in its block, to be emptied then."""
    columns = [((0, 0, at), "column", "") for at in range(3)]
    beside = [((0, 0, at, 0), "figure", str(at)) for at in range(3)]
    drawn = [part for pair in zip(columns, beside, strict=True) for part in pair]
    changes(browser, run_of("1", [((0, 0), "flex_container", "row"), *drawn, ((0, 1), "text", "under")]))
    now = [((0, 0), "flex_container", "one"), ((0, 0, 0), "figure", "all"), ((0, 1), "text", "under it")]
    assert changes(browser, run_of("2", now)) == ["delta"] * 3
    assert [list(one.metadata.delta_path) for one in browser.sent] == [[0, 0], [0, 0], [0, 0, 0]]
    assert browser.sent[0].delta.new_element.HasField("empty")
    assert at_rest(browser) == ["delta", *RAN]


def test_a_block_that_is_another_now_is_not_emptied_where_a_fold_stays(browser):
    """It would be closed."""
    drawn = [((0, 0, 0), "expandable", "fold"), ((0, 0, 0, 0), "text", "folded"), ((0, 0, 1), "text", "more")]
    changes(browser, run_of("1", [((0, 0), "flex_container", "row"), *drawn]))
    now = [((0, 0), "flex_container", "one"), *drawn[:2]]
    assert changes(browser, run_of("2", now)) == ["delta"] * 2
    assert [list(one.metadata.delta_path) for one in browser.sent] == [[0, 0], [0, 0, 1]]


def test_a_figure_in_a_new_place_comes_before_what_does_not_lead_to_it(browser):
    """It waits for the blocks that it is in and those before them, and for no field and no word in them."""
    row, asked = ((0, 0), "flex_container", ""), ((0, 0, 0), "text", "asked")
    by_hand = [((0, 1), "text", "by hand"), ((0, 2), "text", "below"), ((0, 3), "text", "more")]
    changes(browser, run_of("1", [row, asked, *by_hand]))
    drawn = [
        ((0, 1), "column", ""),
        ((0, 1, 0), "column", ""),
        ((0, 1, 0, 0), "text", "warned"),
        ((0, 1, 1), "figure", "a"),
    ]
    now = [row, ((0, 0, 0), "text", "asked otherwise"), *drawn, ((0, 2), "text", "under it")]
    assert changes(browser, run_of("2", now)) == ["delta"] * 3
    assert [list(one.metadata.delta_path) for one in browser.sent] == [[0, 1], [0, 1, 0], [0, 1, 1]]
    assert at_rest(browser) == [*["delta"] * 4, *RAN]
    places = [list(one.metadata.delta_path) for one in browser.sent[:4]]
    assert places == [[0, 0, 0], [0, 1, 0, 0], [0, 2], [0, 3]]


def test_what_the_page_tells_the_browsers_own_scripts_is_no_figure():
    """It is told with the words: sent ahead, as a figure is, it would have the figure itself wait."""
    for component, draws in ((SHELL, False), ("shardlab_still", True)):
        told = ForwardMsg()
        told.delta.new_element.bidi_component.component_name = component
        assert is_figure(told) == draws


def test_a_run_that_is_given_up_after_its_figure_is_sent_whole(browser):
    page = [((0, 0), "text", "a"), ((0, 1), "figure", "a")]
    changes(browser, run_of("1", page))
    early = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    given_up = changes(browser, run_of("2", [page[0], ((0, 1), "figure", "b")], ends=early))
    assert given_up == ["delta", "new_session", "session_status_changed", "delta", "delta", "script_finished"]
    assert changes(browser, run_of("3", page)).count("delta") == len(page)


def test_what_comes_outside_of_a_run_comes_after_what_waited(browser):
    changes(browser, run_of("1", PAGE))
    changes(browser, run_of("2", [*PAGE[:3], ((0, 1, 1), "text", "e")]))
    late = next(message for message in run_of("", [((0, 0), "text", "late")]) if message.metadata.delta_path)
    browser.sent.clear()
    browser.shown.take(late)
    assert [message.WhichOneof("type") for message in browser.sent] == [*RAN, "delta"]
    assert browser.tree()[1][0][1][0] == ("late", {})


def test_that_a_run_began_and_ended_is_said_at_rest(browser):
    """For each a browser goes over the page; it lets go of what is gone, and knows a step back from a new one."""
    status = ForwardMsg()
    status.session_status_changed.script_is_running = False
    changes(browser, widgets("1", "a", "b"))
    assert changes(browser, [*widgets("2", "a", "c"), status]) == ["delta"]
    assert at_rest(browser) == [*RAN, "session_status_changed"]
    assert changes(browser, widgets("3", "a")) == ["delta"]
    assert browser.run == "1"


def test_that_a_run_ended_is_said_before_the_next_one_is_sent(browser):
    changes(browser, run_of("1", PAGE))
    changes(browser, run_of("2", PAGE))
    begun, *_ = run_of("3", PAGE, page="another")
    browser.shown.take(begun)
    assert [message.WhichOneof("type") for message in browser.sent] == [*RAN, "new_session"]
    assert not at_rest(browser)


def test_a_place_that_is_left_empty_is_sent_an_empty_element(browser):
    changes(browser, run_of("1", PAGE))
    assert changes(browser, run_of("2", PAGE[:3])) == ["delta"]
    assert browser.tree()[1][0][1][1] == ("column:b", {0: ("c", {})})
    assert changes(browser, run_of("3", PAGE[:2])) == ["delta"]
    assert list(browser.tree()[1][0][1]) == [0]
    assert changes(browser, run_of("4", PAGE)) == ["delta"] * 3
    assert browser.run == "1"


def test_what_a_browser_repeats_by_itself_is_told_within_its_run(browser):
    """It forgets all that it repeats as a run begins. An address comes at once."""
    changes(browser, run_of("1", PAGE))
    *run, ended = run_of("2", PAGE)
    address, repeated = ForwardMsg(), ForwardMsg()
    address.page_info_changed.query_string = "a=1"
    repeated.auto_rerun.interval = 1
    assert changes(browser, [*run, repeated, address, ended]) == ["page_info_changed"]
    assert at_rest(browser) == [*RAN[:2], "auto_rerun", RAN[2]]


def test_a_fault_of_ours_leaves_nothing_out_and_ends_nobody(browser, monkeypatch):
    """The loop that sends is one for all visitors."""
    changes(browser, run_of("1", PAGE))
    monkeypatch.setattr(browser.shown, "_send_changes", lambda: next(iter(())))
    assert changes(browser, run_of("2", PAGE)).count("delta") == len(PAGE)
    monkeypatch.undo()
    assert changes(browser, run_of("3", PAGE)).count("delta") == len(PAGE)


def test_no_message_refers_to_one_that_a_browser_may_have_let_go():
    """A browser drops what it was not sent for two runs; a reference to it ended the visit."""
    told = tomllib.loads((Path(__file__).resolve().parents[2] / ".streamlit/config.toml").read_text())
    assert told["global"]["minCachedMessageSize"] > 1e6 * told["server"]["maxMessageSize"]
