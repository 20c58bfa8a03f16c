"""No text makes a reader stumble: real pastes, mangled in every way at hand, are read or refused in one line.

Seeded, so that a failure can be had again. Where SHARDLAB_CASES names a folder of real pastes they are mangled
too. What was found in this way stands below by name.
"""

import json
import os
import random
import re
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path

import pytest

from core.catalog.measured_link import measured_link_of
from core.clinic.hang_log import read_hang
from core.comm_cost.asked import AskedBill
from core.course.quiz.paper import Sheet
from core.errors import ShardlabError
from core.links.fitted_tables import fitted_tables
from core.links.nccl_tests import read_tables
from core.models.hf_config import model_from_config
from core.pipeline_bubble.experiments import Bench
from core.placement.topology import read_topology
from core.scenario import Scenario
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from core.strategy.refit import overhead_of
from core.text.numbers import number, whole_number
from core.text.quantity import read_quantity
from core.two_way_tp.result import read_result
from core.two_way_tp.run_log import read_log as read_run
from core.two_way_tp.scaling import read_scaling
from runtime import captures
from runtime.files import text_of
from runtime.measurements import example_paste
from runtime.prose import explained, worded
from tests.core.links.printed_tables import table
from tests.core.serving.test_bench_results import PRINTED, SAVED
from tests.core.startup_log.printed_logs import DEEPSEEK, QWEN2
from tests.each import each
from ui.placement.examples import EXAMPLE_CONFIG, EXAMPLE_TRACE
from ui.placement.pin import read_pin

CASES = Path(os.environ.get("SHARDLAB_CASES", ""))
INPUTS, PARTS = 6_000, 2
TIMES, LEAST_S, LEAST_BYTES = 10, 0.05, 4_000_000
"""A mangled text may cost so many times what the dearest whole text costs its reader; below the least nothing is
told from the machine's own noise."""
WEIGHED = 50
"""Of so many inputs one is read with its memory counted, which takes several times as long."""
LONGEST_SEED, WINDOW, WHOLE = 5_000, 600, 0.05
RUN = Path(__file__).resolve().parents[2] / "data/captures/gloo-cpu/lines.jsonl"
MOONCAKE = '{"timestamp": 0, "input_length": 6758, "output_length": 500, "hash_ids": [0, 1]}\n' * 2
AZURE = """TIMESTAMP,ContextTokens,GeneratedTokens
2023-11-16 18:15:46.6805900,374,44
2023-11-16 18:15:50.9951690,396,109
"""
ADDRESSES = (
    "5_450_4096_0.002_8_llama-3-8b",
    "h100-sxm~nvlink-4~ib-ndr~8~1~8~8~4~2~1~1",
    "8x16",
    "7;ring=32,19 µs;bubble=15/47",
    "own_5_450_0_8_gloo",
    "llama-3-8b",
    "6.7 billion",
)
ASKED = ("model", "gpu", "tp", "batch", "prompt", "weights")
TOPOLOGY = (
    "\tGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\n"
    "GPU0\t X \tNV12\tNV12\tNV12\tPXB\t0-31\nGPU1\tNV12\t X \tNV12\tNV12\tSYS\t0-31\n"
    "GPU2\tNV12\tNV12\t X \tNV12\tSYS\t32-63\nGPU3\tNV12\tNV12\tNV12\t X \tSYS\t32-63\n"
    "NIC0\tPXB\tSYS\tSYS\tSYS\t X \n"
)
CONFIG = json.dumps(
    {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "torch_dtype": "bfloat16",
    }
)  # fmt: skip
HANG = (
    "node0:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nNCCL version 2.20.5+cuda12.4\n"
    "node0:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0\nChannel 00/04 : 0[0] -> 1[1] via P2P/IPC\n"
)
NUMBERS = (
    "0", "-1", "--5", "1e400", "-1e400", "Infinity", "NaN", "nan", "inf", "1e999", "9" * 400, "9" * 5000, "1,5",
    "1.2.3", "0x10", "1e-400", "2147483648", "18446744073709551616", "-0", "٣", "1\u202f024", "", "null", "[]",
    "{}", "true", "1e99999999", "0x1p1024", "①",
)  # fmt: skip
PIECES = (
    "\x00",
    "\ud800",
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\u2028",
    "\x1c",
    "\x1b[31m",
    "\r",
    "\n",
    "\t",
    '"',
    "'",
    "\\n",
    "&lt;",
    "<b>",
    "{",
    "}",
    "[",
    ",",
    "…",
)
BYTES = (
    b"\xff\xfe",
    b"\xfe\xff\xd8",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\x1f\x8b\x08\x00",
    b"\xef\xbb\xbf",
)
"""What no text in UTF-8 has: a file of them is read all the same."""


def tables(text: str) -> object:
    """Tables as the page has them, every doubt in words."""
    return [worded(warning) for own in fitted_tables(text) for warning in (*own.warnings, *own.table.dropped)]


def log(text: str) -> object:
    """A log as the page has it, every formula and remark in words."""
    report = read_log(text)
    return [worded(check.formula) for check in report.checks], [worded(remark) for remark in report.remarks]


def bench(text: str) -> object:
    """Results as the page has them: what is derived of them, in words too."""
    return [
        (result.between_s, [f"{worded(warning)}" for warning in result.warnings])
        for result in read_bench_results(text)
    ]


def trace(text: str) -> object:
    """A trace as the page has it: what was sent of it, and its rates."""
    read = read_trace(text)
    return read, read.mean_prompt, read.mean_output, read.rate_per_s


def overhead(text: str) -> object:
    """A startup log as the planner takes it for one's own machine."""
    return overhead_of(text, 0.9 * 80e9)


def run(text: str) -> object:
    """The lines of a run of lab 02, as they were kept or brought."""
    return read_run(text.splitlines())


def address(text: str) -> object:
    """A text in every place of an address that holds more than one number."""
    kept = (AskedBill.from_text(text), read_pin(text), Bench.pinned(text), Sheet.from_text(text))
    return kept, measured_link_of(text), read_quantity(text), Scenario.from_query(dict.fromkeys(ASKED, text))


READERS: dict[str, Callable[[str], object]] = {
    "nccl": tables,
    "log": log,
    "bench": bench,
    "topology": read_topology,
    "config": model_from_config,
    "hang": read_hang,
    "trace": trace,
    "overhead": overhead,
    "run": run,
    "address": address,
    "result": read_result,
    "scaling": read_scaling,
}


def seeds() -> list[tuple[str, str]]:
    """Each reader with texts it can read."""
    found = [
        *(("nccl", text) for text in (table(), table("all_gather", 4, largest=1 << 20), example_paste())),
        *((reader, text) for text in (QWEN2, DEEPSEEK) for reader in ("log", "overhead")),
        *(("bench", text) for text in (PRINTED, json.dumps(SAVED), json.dumps([SAVED, SAVED], indent=1))),
        *(("topology", TOPOLOGY), ("config", CONFIG), ("hang", HANG)),
        *(("trace", text) for text in (AZURE, EXAMPLE_TRACE, MOONCAKE)),
        ("run", RUN.read_text(encoding="utf-8")),
        ("result", RUN.with_name("result.json").read_text(encoding="utf-8")),
        ("scaling", next(captures.CURVES.glob("*.json")).read_text(encoding="utf-8")),
        *(
            ("address", text)
            for text in ("5_450_4096_0.002_8_llama-3-8b", "h100-sxm~nvlink-4~ib-ndr~8~1~4~2~1", "8x16")
        ),
        *(
            ("address", text)
            for text in ("7;ring=32,19 µs;bubble=15/47", "own_5_450_0_8_gloo", "llama-3-8b", "6.7 billion")
        ),
        ("config", EXAMPLE_CONFIG),
    ]
    for reader, pattern in (("nccl", "nccl/*.txt"), ("log", "logs/*/*.txt")):
        files = sorted(CASES.glob(pattern)) if CASES.name else []
        found += [(reader, path.read_text(encoding="utf-8", errors="replace")[:LONGEST_SEED]) for path in files]
    return found


def mangled(rng: random.Random, text: str, other: str) -> str:
    """A text with one thing done to it."""
    at, to = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    lines = text.split("\n")
    row = rng.randrange(len(lines))
    figures = list(re.finditer(r"\d+(?:\.\d+)?", text))
    kind = rng.randrange(11)
    if kind < 3 and figures:
        figure = rng.choice(figures)
        return text[: figure.start()] + rng.choice(NUMBERS) + text[figure.end() :]
    if kind == 3:
        return text[:at] + text[min(to, at + 80) :]
    if kind == 4:
        return text[:at] + rng.choice(PIECES) + text[at:]
    if kind == 5:
        return "\n".join([*lines[:row], lines[row][: rng.randrange(len(lines[row]) + 1)], *lines[row + 1 :]])
    if kind == 6:
        return "\n".join([*lines[:row], *(2 * [lines[rng.randrange(len(lines))]]), *lines[row:]])
    if kind == 7:
        return text[:at] + other[: rng.randrange(min(400, len(other)) + 1)] + text[at:]
    if kind == 8:
        return "\n".join(rng.sample(lines, len(lines)))
    if kind == 9:
        return text_of(
            text[:at].encode("utf-8", "replace") + rng.choice(BYTES) + text[at:].encode("utf-8", "replace")
        )
    return text[at:to]


def window(rng: random.Random, reader: str, text: str) -> str:
    """Some lines of a long text, mostly: most of a table's or a log's rows are alike, and each costs its time."""
    if reader not in ("nccl", "log") or len(text) <= WINDOW or rng.random() < WHOLE:
        return text
    at = text.rfind("\n", 0, rng.randrange(len(text) - WINDOW // 2)) + 1
    return text[at : at + WINDOW]


def stumbles(reader: str, text: str) -> str | None:
    """What a reader raised that is no refusal in one line; None where it answered or refused."""
    try:
        READERS[reader](text)
    except ShardlabError as error:
        said = explained(error)
        return None if "\n" not in said and len(said) < 2_000 else f"a refusal of {len(said)} characters"
    except Exception as error:
        return repr(error)[:200]
    return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PARTS))
def test_no_mangled_paste_makes_a_reader_stumble(seed):
    rng, inputs = random.Random(23 + seed), INPUTS // PARTS
    texts, found, dear = seeds(), {}, []
    by_reader = [[one for one in texts if one[0] == reader] for reader in READERS]
    usual_s, usual_bytes = dearest(seconds), dearest(peak_bytes)
    for place in range(inputs):
        reader, text = rng.choice(rng.choice(by_reader))
        text = window(rng, reader, text)
        for _ in range(rng.randrange(1, 4)):
            text = mangled(rng, text, rng.choice(texts)[1])
        began_s = time.thread_time()
        if (error := stumbles(reader, text)) is not None:
            found.setdefault((reader, error), text[:300])
        if time.thread_time() - began_s > TIMES * usual_s[reader] + LEAST_S:
            dear.append((reader, text))
        if place % WEIGHED == 0 and peak_bytes(reader, text) > TIMES * usual_bytes[reader] + LEAST_BYTES:
            found.setdefault((reader, "memory"), text[:300])
    slow = [(reader, text[:300]) for reader, text in dear if is_slow(reader, text, usual_s)]
    print(f"{inputs} inputs, {inputs // WEIGHED} of them weighed, {len(dear)} tried again for their time")
    assert not found
    assert not slow


@lru_cache
def dearest(cost: Callable[[str, str], float]) -> Mapping[str, float]:
    """What the dearest text that a reader can read costs it."""
    texts = seeds()
    return {reader: max(cost(reader, text) for name, text in texts if name == reader) for reader in READERS}


def seconds(reader: str, text: str) -> float:
    """This thread's own time: what others do on the machine is not in it."""
    began_s = time.thread_time()
    stumbles(reader, text)
    return time.thread_time() - began_s


def peak_bytes(reader: str, text: str) -> float:
    tracemalloc.start()
    stumbles(reader, text)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def is_slow(reader: str, text: str, usual_s: Mapping[str, float]) -> bool:
    """Whether a text costs too much each time of five: a pause of the machine is no text's fault."""
    return min(seconds(reader, text) for _ in range(5)) > TIMES * usual_s[reader] + LEAST_S


@pytest.mark.slow
def test_no_address_makes_a_reader_of_numbers_or_links_stumble():
    rng = random.Random(5)
    letters = "own_0123456789.,-+eE∞_ inf\u202f"
    for _ in range(INPUTS):
        text = "".join(rng.choices(letters, k=rng.randrange(40)))
        assert number(text) is None or isinstance(number(text), float)
        assert whole_number(text, 0, 99) in {None, *range(100)}
        link = measured_link_of(f"own_{text}")
        assert link is None or link.bandwidth_bytes_per_s >= 0


ROW = (
    "     8388608       2097152     float     sum      -1    166.8   50.29   88.00      0    166.8   50.29   88.00"
)


@each(
    ("reader", "text"),
    [
        ("topology", TOPOLOGY.replace("NV12\tNV12\tNV12\t X \tSYS\t32-63", "NV12")),
        ("bench", json.dumps({**SAVED, "request_throughput": float("inf"), "duration": float("inf")})),
        ("bench", json.dumps({**SAVED, "mean_ttft_ms": 1e308, "mean_tpot_ms": 1e308})),
        ("bench", json.dumps(SAVED).replace("204800", "9" * 5000).replace("25600", "9" * 400)),
        ("bench", PRINTED.replace("50.00\nTotal", "0.000000000000000000001\nTotal")),
        ("run", RUN.read_text(encoding="utf-8").replace('"median_us": ', f'"median_us": {"9" * 5000}')),
        ("nccl", f"{ROW} {'9' * 5000}\n" * 4),
        ("nccl", f"{ROW} 1e{'9' * 30}\n" * 4),
        ("nccl", f"131072 32768 float sum -1 22.29 5.88 {'1' * 4000}\n"),
        ("nccl", f"{ROW.replace('8388608', '0', 1)}\n" + f"{ROW.replace('50.29', '25.14')}\n" * 5),
        ("log", DEEPSEEK),
        ("log", re.sub(r"v?\d+\.\d+\.\d+(\.post\d)?", "0.7.²", DEEPSEEK)),
        ("nccl", f"{ROW} ²\n" * 4),
        ("log", QWEN2.replace("tensor_parallel_size=2", f"tensor_parallel_size={'9' * 70}")),
        ("log", QWEN2.replace("tensor_parallel_size=2", "tensor_parallel_size=0, block_size=0, tp=-4")),
        ("run", RUN.read_text(encoding="utf-8").replace('"median_us": ', f'"median_us": {"9" * 400}')),
        ("log", QWEN2.replace("max_seq_len=16384", f"max_seq_len={'9' * 79}")),
        ("trace", "9" * 200_000),
        ("trace", f"{'x' * 200_000}\n1,2,3\n"),
        ("result", "[" * 100_000),
        ("scaling", "[" * 100_000),
    ],
)
def test_what_once_raised_is_answered_or_refused(reader, text):
    """IndexError in a short row, OverflowError of infinity, ValueError of five thousand digits."""
    assert stumbles(reader, text) is None


def test_a_row_cut_in_half_is_dropped_and_said():
    """Wherever a table's last row is cut, every time that is kept is one that was printed, and the cut is said."""
    text = table(largest=1 << 20)
    body, last = text[: text.index("     1048576")], text[text.index("     1048576") :].split("\n")[0]
    (whole,) = read_tables(text)
    printed = {(row.size_bytes, us) for row in whole.rows for us in (row.out_of_place_us, row.in_place_us)}
    for at in range(len(last) - 1):
        (cut,) = read_tables(body + last[:at])
        kept = {(row.size_bytes, us) for row in cut.rows for us in (row.out_of_place_us, row.in_place_us)}
        assert kept <= {*printed, (1 << 20, None)}, last[:at]
        assert len(cut.rows) >= len(whole.rows) - 1
        assert cut.warnings or cut.dropped, last[:at]


@pytest.mark.parametrize(
    "text", ["# nThread 1 nGpus 8 minBytes 8 maxBytes 99 step: 2(factor)\n" * 501, f"{ROW}\n" * 20_000]
)
def test_more_tables_or_rows_than_a_page_shows_are_answered_in_a_line(text):
    assert stumbles("nccl", text) is None
