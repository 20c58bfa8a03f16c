"""What a layout gives: time to the first token, time between tokens, tokens a second, and what each link is paid.

B sequences at once, spread over the copies of attention; p stages, with m = min(p, B) microbatches going round.
A cached prefix is not read again; a draft of k tokens is checked in one step, which keeps E of them and one more.
Ignored: prefills that arrive while others decode (see the load), overlap, uneven routing.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, sqrt

from core.collectives.cost import as_measured
from core.models.loaded_weights import stages
from core.pipeline_bubble.layouts import HANDED_OVER, hand_over
from core.placement.layout import Layout
from core.placement.sent import Op
from core.placement.step_terms import Served, added_of, sent_by_decode
from core.specs import LinkSpec
from core.steps.launches import prompt_layers
from core.steps.model import ACTIVATION_BYTES, Efficiency, StepTerms
from core.units import Named


@dataclass(frozen=True)
class LinkBill:
    """What one token's way through an engine pays one link for collectives of one kind.

    `latency_s` of it is waiting, the rest is bytes. `payload_bytes` is of one of them; `kernel` makes them.
    """

    what: Op
    link: str
    messages: int
    payload_bytes: float
    time_s: float
    latency_s: float
    kernel: str = "NCCL"

    @property
    def bandwidth_s(self) -> float:
        return self.time_s - self.latency_s


@dataclass(frozen=True)
class Timing:
    """What a layout gives at one concurrency.

    `ttft_s` is of a prompt among so many users who each ask anew once answered, `alone_ttft_s` of one alone.
    `tokens_per_s` is of decode steps alone; `sustained_tokens_per_s` of an engine that must also read each
    sequence's prompt, and reads no other meanwhile.
    """

    concurrency: int
    ttft_s: float
    alone_ttft_s: float
    itl_s: float
    tokens_per_s: float
    sustained_tokens_per_s: float
    roofline_itl_s: float
    steps: "Steps" = field(repr=False, compare=False)
    named: Named = "modeled"

    @cached_property
    def bill(self) -> tuple[LinkBill, ...]:
        """What one token pays each link on its way."""
        return self.steps.bill(self.concurrency)

    @property
    def comm_s(self) -> float:
        """All links, on one token's way."""
        return sum(link.time_s for link in self.bill)


@dataclass(frozen=True)
class Steps:
    """A layout's steps, priced at any number of sequences; what is the same at each is worked out once.

    `prompts` are a prompt's own constants, `layer_launch_s` what its engine takes to launch a plain layer of it.
    """

    served: Served
    layout: Layout
    efficiency: Efficiency
    prompts: Efficiency
    layer_launch_s: float

    def timing(self, sequences: int) -> Timing:
        """All of it, with so many sequences at once.

        Raises IndivisibleError where a group of ranks would leave a node half used.
        """
        in_flight, batch = self._shared_out(sequences)
        decode = self.served.decode(batch)
        itl_s = self._between_s(decode, in_flight, batch)
        filled = max(1.0, in_flight / self.layout.pp_size)
        return Timing(
            concurrency=sequences,
            ttft_s=self.ttft_s + self._waits_s(sequences, itl_s),
            alone_ttft_s=self.ttft_s,
            itl_s=itl_s,
            tokens_per_s=sequences / itl_s,
            sustained_tokens_per_s=self.sustained_tokens_per_s(sequences, itl_s),
            roofline_itl_s=decode.roofline_s * filled / self._tokens_a_step,
            steps=self,
        )

    @property
    def ttft_s(self) -> float:
        """One prompt's way through the layers and over the links between stages, with no other before it."""
        return sum(self._prompt_s)

    def _waits_s(self, sequences: int, itl_s: float) -> float:
        """What a prompt waits for those before it, on average: `closed_wait_s` of its copy's users."""
        reading_s = self._prompt_s[0] / self.layout.pp_size
        return closed_wait_s(ceil(self._per_copy(sequences)), reading_s, self.served.demand.output_tokens * itl_s)

    def itl_s(self, sequences: int) -> float:
        """The time between two tokens of a sequence alone: what is asked of many concurrencies."""
        in_flight, batch = self._shared_out(sequences)
        return self._between_s(self.served.decode(batch), in_flight, batch)

    def sustained_tokens_per_s(self, sequences: int, itl_s: float) -> float:
        """Tokens a second at that time between them, of an engine that must read a prompt for every output.

            B / ITL · O · ITL / (O · ITL + B · P/p)

        A pipeline reads p prompts at once.
        """
        prefill_s, layout = self._prompt_s[0], self.layout
        reading_s = self._per_copy(sequences) * prefill_s / layout.pp_size
        writing_s = self.served.demand.output_tokens * itl_s
        return sequences / itl_s * (writing_s / (writing_s + reading_s))

    def _per_copy(self, sequences: int) -> float:
        return max(1.0, sequences / self.layout.attention_copies)

    def _shared_out(self, sequences: int) -> tuple[int, float]:
        """How many microbatches go round, and how many sequences each of them is."""
        per_copy = self._per_copy(sequences)
        in_flight = min(self.layout.pp_size, int(per_copy))
        return in_flight, per_copy / in_flight

    @cached_property
    def _prompt_s(self) -> tuple[float, float]:
        """What one prompt takes of the layers, and of the links between stages."""
        served, demand = self.served, self.served.demand
        step_s = served.prefill.step_s(self.prompts)
        launch_s = self.layer_launch_s * prompt_layers(served.model, demand.dtype, self.layout.tp_size)
        return max(step_s, launch_s), sum(self._handoffs_s(demand.prompt_tokens - demand.cached_tokens))

    def added_fraction(self, sequences: int) -> float:
        """Of a prompt's time alone, what it adds to steps of so many sequences: see core.steps.mixed."""
        _, batch = self._shared_out(sequences)
        alone_s = self._prompt_s[0]
        return min(1.0, added_of(self.served, batch).step_s(self.prompts) / alone_s) if alone_s else 1.0

    def _between_s(self, decode: StepTerms, in_flight: int, batch: float) -> float:
        """The way round the pipe, or m turns of its slowest stage, for each token that a step yields.

            max(m · max t, Σt + Σl)

        As core.pipeline_bubble.schedules.serving.steady_decode has it, in seconds.
        """
        step_s = max(decode.step_s(self.efficiency), decode.roofline_s)
        around_s = step_s + sum(self._handoffs_s(batch))
        return max(in_flight * self._slowest_share * step_s, around_s) / self._tokens_a_step

    @cached_property
    def _tokens_a_step(self) -> float:
        return self.served.demand.tokens_a_step

    @cached_property
    def _slowest_share(self) -> float:
        """Of the layers, those of the longest stage."""
        model = self.served.model
        return max(stage.layers for stage in stages(model, self.layout.pp_size)) / model.num_hidden_layers

    def _handoffs_s(self, tokens: float) -> list[float]:
        """What each hand-over between two stages takes, `tokens` rows of activations at a time.

        HANDED_OVER · (t0 + α + n/β), at the bandwidth that was measured on a link where one was.
        """
        payload = HANDED_OVER * tokens * self.served.model.hidden_size * ACTIVATION_BYTES
        return [wait_s + payload / bytes_per_s for wait_s, bytes_per_s in self._hop_terms]

    @cached_property
    def _hop_terms(self) -> list[tuple[float, float]]:
        """Of each such link the wait in seconds of both messages, and the bytes a second."""
        return [(hand_over(0.0, link).total_s, as_measured(link).bandwidth_bytes_per_s) for link in self._hops]

    @cached_property
    def _hops(self) -> tuple[LinkSpec, ...]:
        """The link behind each stage but the last."""
        cluster, layout = self.served.cluster, self.layout
        ranks = layout.tp_size * layout.dp_size
        return tuple(cluster.hop(ranks, boundary) for boundary in range(layout.pp_size - 1))

    def bill(self, sequences: int) -> tuple[LinkBill, ...]:
        """One token's way: what its layers say on the links inside, and what each link between stages carries."""
        _, batch = self._shared_out(sequences)
        rows = [
            LinkBill(
                one.op, one.link.name, round(one.count), one.payload_bytes, one.time_s, one.waiting_s, one.kernel
            )
            for one in sent_by_decode(self.served, batch)
        ]
        payload = batch * self.served.model.hidden_size * ACTIVATION_BYTES
        hops: dict[LinkSpec, list[float]] = {}
        for link, time_s in zip(self._hops, self._handoffs_s(batch), strict=True):
            hops.setdefault(link, []).append(time_s)
        for link, times in hops.items():
            wait_s = len(times) * hand_over(0.0, link).total_s
            messages = HANDED_OVER * len(times)
            rows.append(LinkBill("hand-overs", link.name, messages, payload, sum(times), wait_s))
        return tuple(rows)


STEPPED_USERS = 2_048
"""So many users are added one by one; those before them begin where one more would change nothing."""


def closed_wait_s(users: int, service_s: float, thinks_s: float) -> float:
    """The mean wait of one of so many users for a server of equal jobs, each away for a while between its own.

        w(n) = s · (q(n-1) - u(n-1)/2),  q(n) = x · (w + s),  u = x · s,  x = n / (w + s + think)

    Mean value analysis; of the job that is being served half is left. Past `STEPPED_USERS` it sets out from the w
    that solves w(n) = w(n-1). Source: Reiser & Lavenberg 1980; Schweitzer 1979.
    """
    before = max(0, users - STEPPED_USERS)
    waits_s = _standing_wait_s(before, service_s, thinks_s) if before else 0.0
    queued, busy = _queued(before, waits_s, service_s, thinks_s)
    for user in range(before + 1, users + 1):
        waits_s = service_s * max(0.0, queued - busy / 2)
        queued, busy = _queued(user, waits_s, service_s, thinks_s)
    return waits_s


def _queued(users: int, waits_s: float, service_s: float, thinks_s: float) -> tuple[float, float]:
    """How many users are at the server, and the share of time that it is busy."""
    around_s = waits_s + service_s + thinks_s
    rate = users / around_s if around_s else 0.0
    return rate * (waits_s + service_s), min(1.0, rate * service_s)


def _standing_wait_s(users: int, service_s: float, thinks_s: float) -> float:
    """The wait that solves w = s · (q - u/2) with u below 1, else with u = 1: the root of a quadratic."""
    whole_s = service_s + thinks_s
    for linear_s, squared_s2 in (
        (whole_s - users * service_s, users * service_s**2 / 2),
        (whole_s + service_s / 2 - users * service_s, users * service_s**2 - service_s * whole_s / 2),
    ):
        waits_s = (sqrt(linear_s**2 + 4 * squared_s2) - linear_s) / 2
        if users * service_s <= waits_s + whole_s:
            break
    return waits_s
