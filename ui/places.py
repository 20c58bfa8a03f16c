"""The keys of containers that style sheets and scripts know: contracts between a page and `ui/*.css`, `ui/browser`.

Streamlit writes a container's key into its class, as `st-key-…`. A name that ends in `_` begins many keys.
"""

from collections.abc import Mapping

PLACES: Mapping[str, str] = {
    "abilities": "what a visitor can do, on the overview",
    "arrow_": "an arrow from one lab to the next, on the overview",
    "aside_": "left out when projected",
    "back": "the button to the scene before",
    "back_page": "the button to the page before",
    "bar": "the scenario and Present, fixed in the header",
    "chart_": "a figure, named by the reading that stands under it",
    "column": "the page, under what every page shares: where the skip link leads",
    "controls_": "what a scene asks: one row, whole on a screen of a wall, and after its figure on a low one",
    "entry_": "a page's entry on the overview",
    "foot": "the buttons that end a scene: fixed on a phone and on a wall",
    "guess": "a prediction: its slider, and the field for the same number in the line of its label",
    "go_present": "the button that projects; the browser presses it on a phone",
    "head": "the title of the scene",
    "hide": "the button that hides an answer again; an answer on a wall begins with its first screen",
    "labs": "the labs and the arrows between them, on the overview",
    "line_": "a line of its own among controls",
    "next": "the button to the next scene; it has the focus after Reveal",
    "next_page": "the button to the next page",
    "notes_lead": "the first line of a presenter's notes, where the elapsed minutes follow",
    "note_": "a note in the margin, under a hairline",
    "overview": "the overview",
    "place": "where one is, in the foot; on a wall also which screen",
    "place_": "a place of a reading room, or one that was found",
    "predicted": "what a prediction draws: without Streamlit's toolbar, which would lie on its number line",
    "reading_": "the sentence under a figure, in the serif",
    "room_sent": "the line that says what became of a learner's prediction in the room",
    "room_where": "the one line for who is in a room and not at its question",
    "scenario": "the button that opens the scenario",
    "scenario_done": "the button that closes it; Escape presses it",
    "scenario_panel": "the scenario's fields",
    "scene_": "what the open scene holds; on a wall it is laid out over screens",
    "sides": "two boards that stand side by side on a low wall too",
    "speak_": "the button that changes the language, in the bar",
    "scenes_": "the names of a page's scenes, in one line",
    "split_": "a figure and its margin: one under the other on a low wall",
    "tools": "the tools, on the overview",
    "typed": "the field in which a prediction is typed, with its unit",
    "unseen_": "mounted and not shown",
    "verdict_": "a sign and what it says",
}
"""What each means to who looks at the page."""
