"""A room in a browser: two phones pass a ring all-reduce by hand, and predict; all screens end with the same."""

from urllib.parse import parse_qs, urlsplit

from tests.browser.conftest import press, settle, wait_for_address
from tests.browser.measures import INK
from tests.browser.test_every_page import faults, lasting, sideways, small_targets, walled

TAPS = ".pass .numbers button[aria-pressed=false]"


def pass_on(phone):
    """Carry each number across by the keyboard, as the focus goes, and send the chunk."""
    numbers = phone.locator(TAPS)
    numbers.first.focus()
    while numbers.count():
        phone.keyboard.press("Enter")
    phone.locator(".pass .send:enabled").wait_for()
    phone.keyboard.press("Enter")


def test_a_wall_and_two_phones_end_with_one_sum_and_vote_twice(app, open_page):
    """Two ranks, two numbers a chunk: two rounds, each phone sends once in each. All of it can be read by all."""
    wall = open_page(
        f"{app}/cluster?present=true&cluster_ranks=2&cluster_numbers=2", width=1280, height=720, script=INK
    )
    wall.keyboard.press("a")
    wait_for_address(wall, "chair=")
    room = parse_qs(urlsplit(wall.url).query)["room"][0]
    phones = []
    for _ in range(2):
        wall.context.clear_cookies(name="shardlab_phone")  # two phones in one browser, whose tabs have one vote
        phones.append(open_page(f"{app}/?room={room}", width=390, height=844))
    wall.get_by_text("2 phones are here").wait_for()
    seen = {"lobby": lasting(wall, walled)}
    wall.locator(".st-key-start_ring button").click()
    wall.locator(".st-key-stop_ring button").wait_for()
    phones[0].locator(TAPS).first.wait_for()
    seen["ring"] = lasting(wall, walled) + faults(wall)
    seen["phone"] = sideways(phones[0]) + lasting(phones[0], small_targets) + faults(phones[0])
    for round_ in (1, 2):
        if round_ == 2:
            wall.context.clear_cookies(name="shardlab_phone")
            phones[0].reload()  # the rank is its browser's
        for phone in phones:
            phone.get_by_text(f"Round {round_} of 2").wait_for()
            phone.locator(TAPS).first.wait_for()
        for phone in phones:
            pass_on(phone)
    wall.get_by_text("2 of 2 ranks hold the same sum").first.wait_for()
    held = []
    for phone in phones:
        phone.get_by_text("You hold the whole sum").first.wait_for()
        held.append(phone.locator(".pass .chunks").inner_text())
    assert held[0] == held[1]
    seen["sum"] = lasting(wall, walled)
    seen |= vote_twice(app, wall, phones)
    assert not {where: those for where, those in seen.items() if those}


def predict(phone, steps):
    """Move the slider of the question by so many steps."""
    phone.locator(".st-key-guess").get_by_role("slider").focus()
    for _ in range(steps):
        phone.keyboard.press("ArrowRight")


def vote_twice(app, wall, phones):
    """The wall's question: both phones come to it, vote, and vote again; what is wrong with any screen.

    A phone says at once that the room votes again, and counts the first number only where that is kept.
    """
    here = wall.url.split("?")[1].split("&")
    wall.goto(f"{app}/pipeline_bubble?pipe_scene=question&{'&'.join(one for one in here if 'cluster' not in one)}")
    settle(wall)
    press(wall, "a")
    sent = [phone.locator(".st-key-room_sent") for phone in phones]
    for phone, told in zip(phones, sent, strict=True):
        wall.context.clear_cookies(name="shardlab_phone")
        phone.get_by_role("link", name="Go to its question").click()
        told.get_by_text("goes to the room").wait_for()
        settle(phone)
        predict(phone, 15)
        told.get_by_text("Sent to the room").wait_for()
    wall.get_by_text("2 predictions").first.wait_for()
    seen = {"asked": lasting(wall, walled) + faults(wall)}
    press(wall, "a")
    for told in sent:
        told.get_by_text("votes a second time").wait_for()
    seen["again"] = lasting(phones[0], small_targets) + sideways(phones[0]) + faults(phones[0])
    phones[0].locator(".st-key-room_keep button").click()
    predict(phones[1], 5)
    for told in sent:
        told.get_by_text("Sent to the room").wait_for()
    wall.get_by_text("Second vote: 2 predictions").first.wait_for()
    press(wall, "v")
    wall.locator(".st-key-room_heaps").get_by_text("2 predictions near").wait_for()
    for told in sent:
        told.get_by_text("takes no more predictions").wait_for()
    return {**seen, "answer": lasting(wall, walled) + faults(wall)}
