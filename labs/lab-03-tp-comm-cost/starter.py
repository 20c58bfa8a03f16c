"""Lab 03, the communication bill: your code. The tasks are in README.md.

Tasks 1 to 5 are the formula; in 6 and 7 you find out where it comes from, in 8 to 10 you use it.

T tokens in the step, d hidden_size, b bytes an element, N ranks, n payload_bytes.
α is `link.latency_s`, seconds a hop; β is `link.bandwidth_bytes_per_s`, one direction.
"""

from collections.abc import Iterable, Sequence

from core.comm_cost.choice import Offer
from core.comm_cost.wire import Hop, Send
from core.errors import OutOfRangeError, require_divides
from core.sharding_math.tensors import Array
from core.specs import LinkSpec, ModelSpec

__all__ = ["Hop", "Offer", "OutOfRangeError", "require_divides"]


def allreduce_payload_bytes(tokens: int, hidden_size: int, bytes_per_element: float = 2) -> float:
    """Bytes that one all-reduce sums: one row of activations for each token."""
    raise NotImplementedError("lab-03, task 1: allreduce_payload_bytes")


def ring_allreduce_traffic_per_rank(payload_bytes: float, ranks: int) -> float:
    """Bytes that one rank sends in a ring all-reduce of n bytes.

    The payload is cut into N chunks. In the reduce-scatter a rank sends a chunk N-1 times, and again in the
    all-gather. One rank sends nothing.
    """
    raise NotImplementedError("lab-03, task 2: ring_allreduce_traffic_per_rank")


def allreduce_time_s(payload_bytes: float, ranks: int, link: LinkSpec) -> float:
    """Seconds of a ring all-reduce: every hop waits α, every byte sent takes 1/β. One rank takes no time.

    The tests' links launch for nothing (`link.base_s` is 0).
    """
    raise NotImplementedError("lab-03, task 3: allreduce_time_s")


def tp_comm_time_per_step(model: ModelSpec, tokens: int, tp_size: int, link: LinkSpec) -> float:
    """Seconds of all-reduce in one forward pass over `tokens`, in 2-byte activations.

    A decoder layer talks after its attention and after its MLP: `model.num_hidden_layers` layers of
    `model.hidden_size`.
    """
    raise NotImplementedError("lab-03, task 4: tp_comm_time_per_step")


def comm_fraction(comm_s: float, step_s: float) -> float:
    """The share of the wall clock spent talking, 0 to 1. `step_s` is the compute alone; nothing is hidden."""
    raise NotImplementedError("lab-03, task 5: comm_fraction")


def ring_all_reduce(values: Sequence[Array], send: Send) -> list[Array]:
    """The sum of `values` as every rank has it, after a ring that runs. Gives one array for each rank.

    `values[r]` is what rank r begins with, N·c numbers. `send(source, target, array)` returns what the target
    receives; nothing else takes a value from one rank to another. Each rank sends to the next one alone, one chunk
    of c numbers at a time: N-1 turns in which the receiver adds, and N-1 in which it keeps what is finished.
    In each turn, take all that is sent before you change what is received. Leave `values` as they are.
    Raise IndivisibleError (`require_divides("values", n, "ranks", N)`) where n numbers do not cut into N chunks.
    """
    raise NotImplementedError("lab-03, task 6: ring_all_reduce")


def time_of_hops(hops: Iterable[Hop], link: LinkSpec) -> float:
    """Seconds that messages take on a link. A Hop is `turn`, `source`, `target` and `payload_bytes`.

    A message takes α and its bytes over β. The messages of one turn travel at once, the turns one after another.
    """
    raise NotImplementedError("lab-03, task 7: time_of_hops")


def fit_link(payloads_bytes: Sequence[float], times_s: Sequence[float], ranks: int) -> tuple[float, float]:
    """α and β of the ring that comes closest to measured all-reduces: seconds a hop, and bytes a second.

    Closest is the least sum of squares of T(n)/t - 1, over all payloads n and their measured times t.
    """
    raise NotImplementedError("lab-03, task 8: fit_link")


def crossing_payload_bytes(one: LinkSpec, other: LinkSpec, ranks: int) -> float | None:
    """The payload whose all-reduce takes as long on either link; None where no payload above 0 does."""
    raise NotImplementedError("lab-03, task 9: crossing_payload_bytes")


def cheapest_offer(
    offers: Sequence[Offer], model: ModelSpec, weights_bytes: float, step_s: float, budget_s: float
) -> Offer | None:
    """The offer with the least `usd_per_hour` that holds the model and makes a token within `budget_s`, or None.

    At TP=N each of an offer's `tp_size` GPUs holds 1/N of the weights, in `gpu_memory_bytes`, and computes for
    `step_s`/N; then come the all-reduces of one token over `link`. Of two at one price, take the faster.
    Raise OutOfRangeError("budget_s", budget_s, "…") for a budget of 0 or below.
    """
    raise NotImplementedError("lab-03, task 10: cheapest_offer")
