"""What a megabyte of anything costs each reader: CPU seconds and memory, in a process of its own.

    python -m benchmarks.bench_paste             every reader on every payload, as a table
    python -m benchmarks.bench_paste --over 0.5  only those above half a second or 50 MB

A visitor's paste is read in the one interpreter that serves all of them: a megabyte is to be answered within a
second and a hundred megabytes, or refused in a line.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Mapping

from core.clinic.hang_log import read_hang
from core.errors import ShardlabError
from core.links.fitted_tables import fitted_tables
from core.models.hf_config import model_from_config
from core.placement.topology import read_node, read_topology
from core.serving.bench_reader import read_bench_results
from core.serving.trace import read_trace
from core.startup_log.reader import read_log
from core.text.quantity import read_quantity
from core.two_way_tp.result import read_result
from core.two_way_tp.run_log import read_log as read_run
from core.two_way_tp.scaling import read_scaling
from scripts.terminal import print_aligned

SIZE = 1_000_000
SECONDS, MEGABYTES = 1.0, 100.0

READERS: Mapping[str, Callable[[str], object]] = {
    "nccl table": fitted_tables,
    "startup log": read_log,
    "benchmark": read_bench_results,
    "topology": read_topology,
    "config.json": model_from_config,
    "hang log": read_hang,
    "trace": read_trace,
    "node": read_node,
    "run's lines": lambda text: read_run(text.splitlines()),
    "run's result": read_result,
    "scaling": read_scaling,
    "quantity": read_quantity,
}

_ROW = "8388608 2097152 float sum -1 166.8 50.29 88.00 0 166.8 50.29 88.00 0\n"
_LOADED = "INFO model_runner.py] Loading model weights took 7.5 GB\n"
_PIECES = {
    "blanks": " ", "digits": "9", "lines": "\n", "tabs": "\t", "quotes": "'", "braces": "{", "brackets": "[",
    "parentheses": "(", "colons": "a:", "dots": ". ", "dashes": "-", "commas": "1,111", "equals": "=",
    "angles": "<", "question marks": "?", "x": "X", "backslashes": "\\", "slashes": "/a", "escapes": "\x1b[",
    "entities": "&lt;", "carriage returns": "7%\r", "row": _ROW, "row on one line": _ROW[:-1], "numbers": "1 ",
    "float": "8 2 float ", "row, cut": _ROW[:40] + "\n",
    "heading": "#  size  count  type  redop  root  time  algbw  busbw #wrong\n",
    "device": "#  Rank  1 Group  0 Pid 9 on node0 device  1 [0000:01:00] NVIDIA\n", "rank": "Rank 1 ",
    "name": "# Collective test starting: all_reduce_perf\n",
    "run": "# nThread 1 nGpus 8 minBytes 8 maxBytes 99 step: 2(factor)\n",
    "message": "node0:16629:16655 [3] NCCL INFO Launch mode Parallel\n", "gloo": "elements min (us) ",
    "ellipsis": "...\n", "report": '{"version": 3, "results": [1], "out_of_place": ',
    "memory": "INFO Available KV cache memory: 5 GiB ", "weights": _LOADED,
    "launch": "vllm serve a/b --model x ", "launches": "vllm serve Qwen/Qwen2-7B-Instruct\n" + _LOADED,
    "config line": "INFO with config: model='a', tensor_parallel_size=2, dtype=bfloat16 ",
    "flag": "vllm serve --model ", "tag": "(VllmWorker TP0 pid=1) ", "path": "/home/ada/models/x ",
    "assigned": "rank 1 in world size 4 is assigned as ",
    "result": "==== Serving Benchmark Result ====\nMean TTFT (ms): 1\n" + "=" * 50 + "\n",
    "clock": "Mean TTFT (ms): 1\n", "saved": '{"request_throughput": 1.0, "mean_ttft_ms": 2.0}\n',
    "saved, nested": '{\n"request_throughput": 1, ',
    "saved, listed": '{"request_throughput": 1, "a": [1,2,3]}, ', "argument": "--model ", "ttft": "Mean TTFT ",
    "gpu": "GPU0 ", "gpus": "GPU1GPU2", "matrix": "GPU0 X NV12\n", "key": '"hidden_size": 1, ',
    "joined": "host:1:2 [0] NCCL INFO comm 0x1 rank 1 nranks 2 ",
}  # fmt: skip
_WRAPS = {
    "": "{}",
    "saved": '{{"request_throughput": 1, "input_lens": [{}0]}}',
    "config": '{{"model_type": "llama", "hidden_size": {}}}',
    "json": '{{"a": {}}}',
}


def payloads() -> Mapping[str, str]:
    """A megabyte of each piece, alone, and of some inside an object of JSON."""
    texts = {name: (piece * (SIZE // len(piece) + 1))[:SIZE] for name, piece in _PIECES.items()}
    lists = {"numbers in JSON": "1,", "floats in JSON": "0.125,", "objects in JSON": "{},", "lists in JSON": "[],"}
    texts |= {name: _WRAPS["saved"].format(piece * (SIZE // len(piece))) for name, piece in lists.items()}
    texts["deep JSON"] = _WRAPS["json"].format("[" * SIZE)
    texts["a long integer in JSON"] = _WRAPS["config"].format("9" * SIZE)
    texts["many keys in JSON"] = (
        "{" + ",".join(f'"k{n}":{n}' for n in range(SIZE // 14)) + ', "request_throughput": 1}'
    )
    return texts


def measured(reader: str, text: str) -> tuple[float, float, str]:
    """CPU seconds, megabytes above what was there, and the answer in a few words."""
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        answer = type(READERS[reader](text)).__name__
    except ShardlabError as error:
        answer = f"refused: {str(error)[:50]}"
    except Exception as error:
        answer = f"CRASHED: {type(error).__name__}"
    spent = time.process_time() - began
    return spent, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, answer


def main() -> int:
    """Print the table; status 1 where something is over the bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--over", type=float, default=0.0, help="only above this part of either bound")
    parser.add_argument("--reader", choices=READERS, nargs="+", help="these readers alone")
    options = parser.parse_args()
    rows = [("reader", "payload", "CPU s", "MB", "answer")]
    over = 0
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        for reader in options.reader or READERS:
            for name, text in payloads().items():
                try:
                    spent, memory, answer = pool.apply_async(measured, (reader, text)).get(timeout=60)
                except multiprocessing.TimeoutError:
                    print(f"{reader} on {name}: over 60 s", file=sys.stderr)
                    return 1
                over += spent > SECONDS or memory > MEGABYTES or answer.startswith("CRASHED")
                if (
                    spent > options.over * SECONDS
                    or memory > options.over * MEGABYTES
                    or answer.startswith("CRASHED")
                ):
                    rows.append((reader, name, f"{spent:.2f}", f"{memory:.0f}", answer))
    print_aligned(rows)
    print(f"{over} over {SECONDS:g} s or {MEGABYTES:g} MB")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
