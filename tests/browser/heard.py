"""What a screen reader goes through, in order: the players and a page, as the accessible tree has them.

A line is a role and a name, or what is said there. `/children: equal` leaves nothing out between them.
"""

from tests.browser.conftest import PATIENCE_MS


def hear(place, expected: str) -> None:
    """Wait until a place of a page is heard so."""
    from playwright.sync_api import expect  # where there is no browser, its tests are skipped and not broken

    expect(place).to_match_aria_snapshot(expected, timeout=PATIENCE_MS)


_SPEEDS = """  - group "speed":
    - radio "½"
    - text: ½
    - radio "1×" [checked]
    - text: 1×
    - radio "2×"
    - text: 2×
    - radio "4×"
    - text: 4×
"""

PLAYERS = {
    "schedule": f"""- figure:
  - /children: equal
  - img /Stage 7 waits 7 ticks for its first microbatch.+/
  - list:
    - listitem: Swipe the grid sideways for the other ticks.
  - button "One tick back"
  - button "Play"
  - button "One tick on"
  - slider "Ticks done": "23"
  - status: 23 of 23 ticks
{_SPEEDS}  - button "Save the figure as an image"
  - paragraph
""",
    "ring": """- figure:
  - /children: equal
  - group "Left and right step from arrival to arrival":
    - img /At 8 KiB over NVLink.+/
  - button "One arrival back"
  - button "Play"
  - button "One arrival on"
  - slider "Time on the stopwatch": "0"
  - status: /0 of [0-9.]+ µs/
  - button "Save the figure as SVG"
  - paragraph
""",
    "stepper": """- figure /W is cut by its outputs.+/:
  - /children: equal
  - group /Step 1 of 5, whole.+/
  - button "Back one step" [disabled]
  - button "Play"
  - button "Next"
  - list:
    - listitem:
      - button "whole"
    - listitem:
      - button "shard"
    - listitem:
      - button "local matmul"
    - listitem:
      - button "no collective"
    - listitem:
      - button "compare"
  - button "Save the figure as SVG"
  - text: /W is cut by its outputs.+/
  - complementary:
    - heading "Step 1 of 5, whole" [level=3]
    - paragraph: /One device multiplies x by W.T.+/
    - heading "Ledger" [level=3]
    - paragraph: empty so far
    - paragraph: No rank has sent anything.
  - paragraph
""",
    "journey": """- figure /A token enters the first layer.+/:
  - slider "GPUs"
  - group "Joined by":
    - radio "NVLink 3"
  - slider "Sequences"
  - group /Left and right step.+/:
    - img /One token.+/
  - button "One moment back"
  - button "Play"
  - button "One moment on"
  - slider "The token's clock, slow in the first layer": "0"
  - status
""",
}
"""Each player at rest: its picture, its controls in the order of their use, and where it stands."""

STEPPED = {
    "schedule": """- figure:
  - slider "Ticks done": "22"
  - status: 22 of 23 ticks
  - paragraph: /22 of 23 ticks. stage 0. idle.+/
""",
    "ring": """- figure:
  - slider "Time on the stopwatch": "1"
  - paragraph: /.+ring. 1 of 6 rounds, tree. 1 of 4 rounds, one-shot. 1 of 1 round./
""",
    "stepper": """- figure /W is cut by its outputs.+/:
  - group /Step 2 of 5, shard.+/:
    - button "Only what rank 0 holds"
    - button "Only what rank 1 holds"
  - button "Back one step"
  - complementary:
    - heading "Step 2 of 5, shard" [level=3]
  - paragraph: /Step 2 of 5, shard.+/
""",
    "journey": """- figure /All GPUs have read their parts.+/:
  - slider "The token's clock, slow in the first layer": "1"
  - paragraph: /.+ of .+All GPUs have read their parts.+/
""",
}
"""Each player after one step, back where it rests at its last stop: the slider and what is announced have moved."""

ASKED = """- main:
  - /children: equal
  - navigation "Pages of the course":
    - list:
      - listitem:
        - link "Overview"
      - listitem:
        - link "Start here"
      - listitem:
        - link "01 Sharding"
      - listitem:
        - link "03 The bill"
      - listitem:
        - link "04 Pipelines"
      - listitem:
        - link "02 Real ranks"
      - listitem:
        - button "Tools"
  - button /llama-3-8b.+/
  - button "ES"
  - button /Present.+/
  - heading /Two GPUs share every layer.+/ [level=1]
  - radiogroup "Scenes":
    - radio "Question" [checked]
    - radio "See it"
  - paragraph
  - group "Speed of a token, relative to one GPU":
    - /children: equal
    - slider "Speed of a token, relative to one GPU"
  - spinbutton "Speed of a token, relative to one GPU, typed, in %": "0"
  - button "Decrement" [disabled]
  - button "Increment"
  - paragraph: "%"
  - img /Two bars. one token on one GPU.+/
  - paragraph: /Not timed.+data-sheet lower bound.+/
  - button /Back.+/
  - button /Reveal.+/
  - button /Next. See it.+/
  - paragraph: "The bill, 1 of 8: Question"
- status
"""
"""Lab 03's question: the course, the scenario, the title, the scenes, what is asked, and the way on."""

REVEALED = """- main:
  - radiogroup "Scenes":
    - radio "Question" [checked]
  - img /Two bars. one token on one GPU.+/
  - img /One layer of a transformer.+/
  - img /Over PCIe 4 x16 a token takes.+/
  - paragraph: /Over .+/
  - button /Reveal.+/ [disabled]
  - button /Next. See it.+/
- status: /Question. Speed of a token, relative to one GPU. 184%/
"""
"""After the reveal: the figure is heard as its reading, which then stands under it, and the answer is announced."""
