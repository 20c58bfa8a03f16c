"""What the predictions of Start here draw: memory that drains, a pass, a model over GPUs, and a message."""

from dataclasses import dataclass

from core.course.labs_own import GPU, LARGE, LINKS, MODEL, PAYLOAD_BYTES
from core.models.weights import held_weight_bytes, read_weight_bytes
from runtime.prose import said
from ui.figures.pictured import PLOT, TRUTH, Now, box, caption
from ui.figures.style import RIGHT, Layer, Spec, also, at, layer, width_of, words
from ui.theme import Look

_HEAD, _DEEP = 24, 88
_MESSAGE = 34


@dataclass(frozen=True)
class Drain:
    """Weights that leave the memory: full at first, empty where the learner says. `held` and `empty` are words."""

    held: str
    empty: str
    height: float = _HEAD + _DEEP + 8
    truth_height: float = 0.0

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the memory, full, and nothing of how fast it drains."""
        bottom, muted = look.px(_HEAD + _DEEP), look.palette.muted
        return [
            *caption(look, 9, self.held),
            box(look, Now(1), "0", PLOT, _HEAD, _HEAD + _DEEP, fill=look.palette.second_ground, stroke=None),
            layer("rule", [{}], x=0, x2={"value": {"expr": PLOT}}, y=bottom, strokeWidth=look.px(1.5), color=muted),
            layer(
                "text",
                [{"name": self.empty}],
                x=RIGHT,
                y=look.px(_HEAD + _DEEP - 11),
                dx=-look.px(8),
                text="name",
                **words(look, 14, align="right"),
            ),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return how it drains: the learner's as an area, the truth as a line over it."""
        palette, top, bottom = look.palette, look.px(_HEAD), look.px(_HEAD + _DEEP)
        ends = now.rows([{"share": at_, "level": top + at_ * (bottom - top), "floor": bottom} for at_ in (0, 1)])
        where = {"x": also(x, "t"), "y": at("level"), "reckoned": now.reckon(t="datum.share * datum.at")}
        if now.role == TRUTH:
            return [layer("line", ends, **where, color=palette.text, strokeWidth=look.px(3))]
        area = {"y2": "floor", "color": palette.bandwidth, "opacity": 0.55}
        return [layer("area", ends, where="datum.at > 0", **where, **area)]


@dataclass(frozen=True)
class Pass:
    """Tokens that go through the weights in one pass, `each` a cell. `read` and `tokens` are words."""

    high: int
    each: int
    read: str
    tokens: str
    columns: int = 100
    truth_height: float = 0.0

    @property
    def height(self) -> float:
        """Laptop pixels for the weights, and for the cells under them."""
        return 66.0

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the weights, and the cells empty."""
        palette = look.palette
        one = Now(1)
        weights = {"fill": palette.compute, "stroke": palette.axis}
        return [
            box(look, one, "0", PLOT, 0, 26, **weights),
            layer("text", [{"name": self.read}], x=0, y=look.px(13), dx=look.px(8), text="name", **_left(look)),
            *self._cells(one, look, "", fill=palette.ground, stroke=palette.hairline),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the tokens, each under the weights; the truth has an outline."""
        ink = look.palette.text
        style = (
            {"fill": None, "stroke": ink} if now.role == TRUTH else {"fill": look.palette.primary, "stroke": None}
        )
        return self._cells(now, look, f"{self.each} * datum.cell < datum.at", **style)

    def _cells(self, now: Now, look: Look, where: str, **mark: object) -> list[Layer]:
        rows = now.rows([{"cell": cell} for cell in range(-(-self.high // self.each))])
        wide = f"{PLOT} / {self.columns}"
        left = f"(datum.cell % {self.columns}) * {wide}"
        high = look.px(24)
        top = f"{look.px(36)} + floor(datum.cell / {self.columns}) * {high}"
        places = now.reckon(
            left_px=left, right_px=f"{left} + {wide} - {look.px(2)}", top=top, end=f"{top} + {high} - 3"
        )
        where_it_is = {"x": at("left_px"), "x2": "right_px", "y": at("top"), "y2": "end"}
        return [layer("rect", rows, reckoned=places, **({"where": where} if where else {}), **where_it_is, **mark)]


@dataclass(frozen=True)
class Boxes:
    """A model over as many GPUs as the learner says: cut, and a box for each; filled once the truth is there.

    `share` is the model over what one GPU holds. What a GPU cannot hold stands out of its box.
    """

    most: int
    share: float
    model: str
    gpus: str
    height: float = 132.0
    truth_height: float = 84.0

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return the bar of the model before it is cut."""
        palette = look.palette
        one = Now(1)
        return [
            *caption(look, 9, self.model),
            box(look, one, "0", PLOT, 20, 48, fill=palette.compute, stroke=palette.axis),
            *caption(look, 64, self.gpus),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the cuts and the boxes; the truth's stand under the learner's, and both have what they hold."""
        palette, is_truth = look.palette, now.role == TRUTH
        rows = now.rows([{"gpu": gpu} for gpu in range(self.most)])
        bottom = look.px(self.height + (self.truth_height if is_truth else 0) - 8)
        high = look.px(40)
        pitch = f"{PLOT} / {self.most}"
        reckoned = now.reckon(
            left_px=f"datum.gpu * {pitch}",
            right_px=f"(datum.gpu + 1) * {pitch} - {look.px(5)}",
            cut_px=f"(datum.gpu + 1) / datum.at * {PLOT}",
        )
        there, across = "datum.gpu < datum.at", {"x": at("left_px"), "x2": "right_px"}
        box_ = {"y": bottom - high, "y2": bottom, "fill": None, "stroke": palette.text, "strokeWidth": look.px(2)}
        cuts = {"y": look.px(16), "y2": look.px(52), "strokeWidth": look.px(2), "color": palette.text}
        layers = [layer("rect", rows, reckoned=reckoned, where=there, **across, **box_)]
        if not is_truth:
            inner = "datum.gpu + 1 < datum.at"
            layers.append(layer("rule", rows, reckoned=reckoned, where=inner, x=at("cut_px"), **cuts))
        if is_truth or not now.live:
            full = f"{self.share} / datum.at"
            held = {**reckoned, "top": f"{bottom} - {high} * min(1, {full})", "over": f"{bottom} - {high} * {full}"}
            in_box = {"y": at("top"), "y2": bottom, "fill": palette.compute, "stroke": None}
            out = {"y": at("over"), "y2": bottom - high, "fill": palette.off, "opacity": 0.5}
            beyond = f"{there} && {full} > 1"
            layers.insert(0, layer("rect", rows, reckoned=held, where=there, **across, **in_box))
            layers.append(layer("rect", rows, reckoned=held, where=beyond, **across, **out))
            layers += caption(look, self.height + 12, now.name) if is_truth else []
        return layers


@dataclass(frozen=True)
class Message:
    """The time of one message, of which the learner says how much is latency. All three fields are words."""

    sent: str
    latency: str
    crossing: str
    height: float = _HEAD + _MESSAGE + 8
    truth_height: float = _HEAD + _MESSAGE + 4

    def setting(self, look: Look, x: Spec) -> list[Layer]:
        """Return all of the time, not divided yet."""
        outline = {"fill": look.palette.ground, "stroke": look.palette.axis}
        return [
            *caption(look, 9, self.sent),
            box(look, Now(1), "0", PLOT, _HEAD, _HEAD + _MESSAGE, **outline),
            *self._signs(look),
        ]

    def drawn(self, now: Now, look: Look, x: Spec) -> list[Layer]:
        """Return the time in its two parts; the truth's stands under the learner's."""
        palette, is_truth = look.palette, now.role == TRUTH
        start = self.height if is_truth else 0
        top, bottom = start + _HEAD, start + _HEAD + _MESSAGE
        at_px = f"{PLOT} * datum.at / 100"
        parts = [
            box(look, now, "0", at_px, top, bottom, fill=palette.latency, stroke=palette.ground),
            box(look, now, at_px, PLOT, top, bottom, fill=palette.bandwidth, stroke=palette.ground),
        ]
        return [*(caption(look, start + 9, now.name) if is_truth else []), *parts]

    def _signs(self, look: Look) -> list[Layer]:
        """Return what the two colors mean, over the right end of the bar."""
        after = width_of(self.crossing, look.font(15)) + look.px(20)
        inks = (self.latency, look.palette.latency_text, after), (self.crossing, look.palette.bandwidth_text, 0.0)
        return [
            layer("text", [{"name": name}], x=RIGHT, y=look.px(9), dx=-room, text="name", **_right(look, ink))
            for name, ink, room in inks
        ]


def drain() -> Drain:
    """Return the picture of one token: the weights that leave the memory."""
    held = said("start_here", "says.drained", held=read_weight_bytes(MODEL), rate=GPU.memory_bytes_per_s)
    return Drain(held, said("start_here", "says.all_read"))


def one_pass() -> Pass:
    """Return the picture of a prompt: the weights, and the tokens that go through them."""
    return Pass(500, 5, said("start_here", "says.weights_once"), said("start_here", "says.tokens_one_pass"))


def boxes() -> Boxes:
    """Return the picture of the large model over its GPUs."""
    held, room = held_weight_bytes(LARGE), GPU.usable_memory_bytes
    whole = said("start_here", "says.whole", held=held, name=LARGE.key)
    return Boxes(20, held / room, whole, said("start_here", "says.boxes", room=room))


def one_message() -> Message:
    """Return the picture of a message between two nodes: its time, to be divided."""
    sent, latency, crossing = (
        said("start_here", f"says.{name}", payload=PAYLOAD_BYTES, link=list(LINKS)[-1])
        for name in ("message_time", "message_latency", "message_bytes")
    )
    return Message(sent, latency, crossing)


def _right(look: Look, ink: str) -> dict[str, object]:
    return words(look, 15, align="right", fontWeight=600, color=ink)


def _left(look: Look) -> dict[str, object]:
    return words(look, 14.5, align="left", fontWeight=600)
