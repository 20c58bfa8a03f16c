"""A network at two per cent, and still the bottleneck: it waits, it does not carry."""

from core.catalog import gpu, link, model
from core.clinic.case import Case, Figure, Name, Term, bars
from core.comm_cost.bill import Step, bill
from core.comm_cost.kernels import picked_bill
from core.models.weights import read_weight_bytes

MODEL, GPU, NETWORK, ONE_BOX = "llama-3-8b", "a10g", "ethernet-10g", "pcie-4"
RANKS, WIDER = 2, 10


def idle_network() -> Case:
    """The case: two machines with one GPU each over 10 GbE, TP=2, and what each purchase would change."""
    step = Step(model(MODEL), RANKS)
    count = step.all_reduces
    compute_s = read_weight_bytes(model(MODEL)) / RANKS / gpu(GPU).memory_bytes_per_s
    comm_s, box_s = (picked_bill(step, link(key)).bill.comm_s for key in (NETWORK, ONE_BOX))
    bytes_s = bill(step, link(NETWORK)).bandwidth_s
    waits_s = comm_s - bytes_s
    step_s = compute_s + bytes_s + waits_s
    wider_s = step_s - bytes_s * (1 - 1 / WIDER)
    found: dict[Term, float] = {"compute": compute_s, "latency": waits_s, "bandwidth": bytes_s}
    return Case(
        key="idle_network",
        truth="waiting",
        candidates=("gpu", "bandwidth", "elsewhere", "waiting"),
        figures=(
            Figure("utilisation", bytes_s / step_s, "fraction"),
            Figure("step", step_s),
            Figure("compute", compute_s),
            Figure("alone", RANKS * compute_s),
            Figure("comm", comm_s),
            Figure("comm_share", comm_s / step_s, "fraction"),
            Figure("bytes_time", bytes_s),
            Figure("waits", waits_s),
            Figure("one", comm_s / count),
            Figure("one_bytes", bytes_s / count),
            Figure("all_reduces", count, "count"),
            Figure("payload", step.payload_bytes, "bytes"),
            Figure("wider", WIDER, "count"),
            Figure("wider_step", wider_s),
            Figure("wider_saves", step_s - wider_s),
            Figure("box_step", compute_s + box_s),
            Figure("box_one", box_s / count),
            Figure("box_faster", step_s / (compute_s + box_s), "times"),
        ),
        names=(Name("gpu", "A10G"), Name("box_gpu", "L40S"), Name("wire", link(NETWORK).name.partition(",")[0])),
        symptom=bars("fraction", {"network": {"whole": bytes_s / step_s}, "gpu": {"whole": compute_s / step_s}}),
        model=bars("s", {"step": found}),
        fix=bars(
            "s",
            {
                "found": found,
                "wider": {**found, "bandwidth": bytes_s / WIDER},
                "box": {"compute": compute_s, "latency": box_s},
            },
        ),
    )
