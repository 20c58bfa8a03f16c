"""The course on one page: the labs in order, what each hands the next, and the tools they lead to."""

import streamlit as st

from runtime.prose import said
from ui import address, progress, shell
from ui.course import pages as course
from ui.overview import course_map, journey, words
from ui.overview import drawing as drawings
from ui.players.still import still
from ui.prose import Prose, prose_of


def picture(stem: str, prose: Prose) -> str:
    alt, palette = prose.plain(f"{stem}.alt"), shell.look().palette
    if stem == "sharding_math":
        return drawings.sharded_layer(4, palette, alt)
    if stem == "comm_cost":
        bills = list(zip(("NVLink", "10 GbE"), words.lab_bills(), strict=True))
        answered = progress.answered(course.entry(stem)) > 0
        alt = prose.plain(f"{stem}.alt_answered") if answered else alt
        return drawings.two_bills(prose.plain(f"{stem}.one_gpu"), bills, palette, alt, answered=answered)
    if stem == "pipeline_bubble":
        return drawings.small_schedule(words.drawn_schedule(), words.DRAWN_STAGES, palette, alt)
    return drawings.two_ranks(words.rank_weights(), palette, alt)


def introduce(entry: course.Entry, prose: Prose) -> None:
    st.markdown(f"### {prose.text(f'{entry.stem}.name')}\n\n{prose.text(f'{entry.stem}.what')}")
    course_map.lead_to(entry, prose.text("open"))


def mark(entry: course.Entry, prose: Prose) -> None:
    if answered := progress.answered(entry):
        st.markdown(f":green[:material/check:] {prose.text('answered')} {answered}")
        if prose.has(f"{entry.stem}.answer"):
            st.markdown(prose.text(f"{entry.stem}.answer"))


def lab(entry: course.Entry, prose: Prose) -> None:
    with st.container(key=f"entry_{entry.stem}"):
        st.markdown(said("overview", "lab", number=entry.title[:2]))
        still(picture(entry.stem, prose), key=f"picture_{entry.stem}")
        introduce(entry, prose)
        st.markdown(prose.text(f"{entry.stem}.hands_on"))
        mark(entry, prose)


def overview() -> None:
    trip = journey.shown(address.scenario())
    prose = prose_of("overview", {**words.fields(), "trip": trip.scenario})
    with st.container(key="overview"):
        st.title(prose.text("title"), anchor=False)
        journey.draw(trip, prose, shell.look())
        st.markdown(prose.text("lead"))
        with st.container(key="entry_start"):
            course_map.lead_to(course.START, prose.text("start"))
            mark(course.START, prose)
        with st.container(key="labs"):
            for number, entry in enumerate(course.LABS):
                if number:
                    with st.container(key=f"arrow_{entry.stem}", horizontal_alignment="center"):
                        st.markdown(prose.text(f"{course.LABS[number - 1].stem}.next"), text_alignment="center")
                lab(entry, prose)
        with st.container(key="tools"):
            st.markdown(prose.text("tools"))
            for entry in course.TOOLS:
                with st.container(key=f"entry_{entry.stem}"):
                    introduce(entry, prose)
        with st.container(key="abilities"):
            st.markdown(prose.text("can"))
            course_map.abilities(prose)
        with st.container(key="note_labs"):
            st.markdown(prose.text("labs"))


shell.boot()
with shell.scene(course.OVERVIEW.stem) as told:
    told.said = course.OVERVIEW.title
    shell.say_what_was_ignored(told.notice, shell.ignored(course.OVERVIEW, {journey.PARAM}))
    overview()
