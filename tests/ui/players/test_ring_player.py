"""The ring player's payload, and how it arrives in the page. What it draws is tested in a browser."""

import pytest
from streamlit.testing.v1 import AppTest

from core.catalog import link
from core.collectives.clock import AllReduce
from core.collectives.cost import collective_cost
from ui.comm_cost import rounds as comm_rounds
from ui.comm_cost import rows_rounds as rows


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_every_course_ends_when_its_closed_form_does(ranks):
    all_reduce = AllReduce(ranks, 2**13, link("nvlink-3"))
    for algorithm, race in zip(rows.ALGORITHMS, rows.races(all_reduce), strict=True):
        assert race.end_s == pytest.approx(
            collective_cost("all_reduce", algorithm, 2**13, ranks, all_reduce.link).total_s
        )


def test_a_courses_rounds_are_shares_of_the_longest():
    all_reduce = AllReduce(4, 2**13, link("nvlink-lab"))
    found = rows.races(all_reduce)
    course = comm_rounds.shares(found[0], found[0].end_s, title="ring", detail="", total="")
    assert (course.ranks, course.chunks, len(course.rounds), len(course.held)) == (4, 4, 6, 7)
    last = course.rounds[-1]
    assert last.start + last.latency + last.bandwidth == pytest.approx(1)
    assert course.held[0][2] == ((2,),) * 4
    assert course.held[-1] == (((0, 1, 2, 3),) * 4,) * 4


def test_the_stops_are_arrivals_and_none_is_on_top_of_another():
    """At 8 KiB ring, tree and one-shot arrive within some nanoseconds of one another: one stop, not three."""
    found = rows.races(AllReduce(4, 2**13, link("nvlink-lab")))
    stops = rows.stops(found)
    assert (stops[0].text, stops[-1].time_s) == ("0", max(race.end_s for race in found))
    assert len(stops) == 7


@pytest.mark.parametrize("longest_s", [1e-9, 9.9e-6, 1e-5, 0.0193, 7.0])
def test_the_axis_has_a_handful_of_round_ticks(longest_s):
    ticks = rows.ticks(longest_s)
    assert 4 <= len(ticks) <= 9
    assert ticks[-1].time_s <= longest_s * (1 + 1e-9)


def test_the_player_mounts_with_its_courses():
    def app():
        from ui.players.ring_player import Course, Message, Round, Stop, ring_player

        course = Course(
            title="ring",
            detail="1 round",
            total="3 µs",
            end=1.0,
            ranks=2,
            chunks=1,
            rounds=(Round(0.0, 0.9, 0.1, (Message(0, 1, 1), Message(1, 0, 1))),),
            held=((((0,),), ((1,),)), (((0, 1),), ((0, 1),))),
        )
        ring_player([course], [Stop(0, "0"), Stop(1, "3 µs")], [Stop(0, "0")], key="wire", alt="two ranks swap")

    at = AppTest.from_function(app, default_timeout=30).run()
    assert not at.exception
    (element,) = at.get("bidi_component")
    assert '"alt":"two ranks swap"' in element.proto.json.replace(": ", ":")
