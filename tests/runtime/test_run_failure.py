"""What a failed run has to say for itself, put into a sentence."""

import json

import pytest

from runtime.prose import worded
from runtime.run_failure import plain_failure

ELASTIC = """
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
  rank      : 1 (local_rank: 1)
  exitcode  : {code} (pid: 4711)
"""


def line(event, **fields):
    return json.dumps({"event": event, **fields})


@pytest.mark.parametrize(
    ("lines", "errors", "sentence"),
    [
        ([line("world"), line("error", message="no checkpoint")], "", "The run failed: no checkpoint."),
        ([line("done", tokens_equal=False)], ELASTIC.format(code=1), "one of the layers is wrong"),
        ([], ELASTIC.format(code=-9), "ended from outside by SIGKILL"),
        ([], ELASTIC.format(code=-11), "ended from outside by SIGSEGV"),
        ([], "Traceback\n[rank0]: RuntimeError: Connection closed by peer\n", "RuntimeError: Connection closed"),
        ([], "distributed.checkpoint.CheckpointError: no tensor named x\n", "failed: CheckpointError: no tensor"),
        (
            [],
            "SafetensorError: I/O error: No space left on device (os error 28)\n",
            "failed: the disk is full; free",
        ),
        (
            [],
            "[W socket.cpp] bind failed. errno: 98 - Address already in use EADDRINUSE\n",
            "the port where the ranks",
        ),
        (["no json"], "", "did not say why"),
    ],
)
def test_a_failure_is_put_plainly(lines, errors, sentence):
    assert sentence in worded(plain_failure(lines, errors))
