"""The program that runs a learner's lab 04 file, in a process of its own: limits first, then their code, by task.

    python -I learner_schedule_process.py <repository> <file> <stages> <microbatches> <results>

One JSON line a task, as in lab 01's program.
"""

import json
import sys


def main(repository: str, file: str, stages: int, microbatches: int, results: str) -> None:
    """Try every task of the file, and its run."""
    sys.path.insert(0, repository)
    from core.pipeline_bubble.submission import RUN, TASKS, result_of
    from runtime.learner_process import failure, limit, load
    from runtime.processes import end_with_parent

    end_with_parent()
    limit()
    with open(results, "w", encoding="utf-8") as out:
        for task in (*TASKS, RUN):
            try:
                row = {"gave": result_of(task, load(file), stages, microbatches)}
            except BaseException as error:
                row = failure(error, file)
            print(json.dumps({"task": task, **row}), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
