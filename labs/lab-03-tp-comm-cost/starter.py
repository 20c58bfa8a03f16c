"""Lab 03, the communication bill: your code. The tasks are in README.md.

T tokens in the step, d hidden_size, b bytes an element, N ranks, n payload_bytes.
α is `link.latency_s`, seconds a hop; β is `link.bandwidth_bytes_per_s`, one direction.
"""

from core.specs import LinkSpec, ModelSpec


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
