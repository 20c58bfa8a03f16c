"""Text becomes a number in one place, `core/text/numbers.py`: no other module turns a visitor's text into one.

What is looked for is a conversion of what may be text: a name, an item of something, or what a text's own method
gave. It is looked for wherever text is met: in modules that import `re`, `csv` or `json`, and in functions that
split or match.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
READERS = sorted(
    path
    for room in ("core", "ui", "pages", "runtime")
    for path in (ROOT / room).rglob("*.py")
    if path != ROOT / "core/text/numbers.py"
)
CONVERTS = {"int", "float", "complex", "Decimal", "Fraction"}
PARTS = {"split", "partition", "rpartition", "splitlines", "group", "groups", "findall", "finditer", "fullmatch"}
PARTS |= {"match", "search", "loads", "replace", "strip", "removeprefix", "removesuffix"}
NO_VISITORS_TEXT = {
    (
        "core/course/grading/answer.py",
        "int(digits)",
    ): "at most a thousand digits, as the json module has matched them",
    ("core/course/grading/questions.py", "float(ticks)"): "a count that was computed",
    ("core/course/grading/tasks.py", "int(number)"): "a task's number, of our own table",
    ("runtime/tree_limits.py", "int(pid)"): "what the system tells",
    ("runtime/submissions.py", "int(again[1] or again[2])"): "at most three digits behind a file's name",
    ("core/evidence/own_gpu.py", "float(row['high'])"): "a file of this repository",
    ("core/evidence/own_gpu.py", "float(row['low'])"): "a file of this repository",
    ("core/evidence/own_gpu.py", "float(row['value'])"): "a file of this repository",
    ("core/evidence/own_gpu.py", "int(row['repeats'])"): "a file of this repository",
    ("core/evidence/served.py", "float(row['measured_s'])"): "a table of this repository, or of who fits to it",
    ("core/evidence/served.py", "int(found[2])"): "a table of this repository, or of who fits to it",
    ("core/evidence/served.py", "int(row['batch'])"): "a table of this repository, or of who fits to it",
    ("core/evidence/served.py", "int(row['ep'])"): "a table of this repository, or of who fits to it",
    ("core/evidence/served.py", "int(row['isl'])"): "a table of this repository, or of who fits to it",
    ("core/evidence/served.py", "int(row['tp'])"): "a table of this repository, or of who fits to it",
    ("runtime/budget.py", "float(usd)"): "a price that was computed",
    ("runtime/budget.py", "float(gpu_hours)"): "hours that were computed",
    ("runtime/catalog_words.py", "int(match[0].replace(',', ''))"): "thousands in a note of the catalog",
    ("runtime/citations.py", "int(part)"): "a release of PyTorch's",
    ("runtime/learner_process.py", "map(int, _sizes)"): "numbers of ours, as we started the program",
    ("runtime/measurements.py", "float(row['time_us'])"): "a measurement of this repository",
    ("runtime/measurements.py", "int(row['payload_bytes'])"): "a measurement of this repository",
    ("runtime/measurements.py", "int(row['ranks'])"): "a measurement of this repository",
    ("runtime/operators.py", "int(Path('/proc/self/statm').read_text().split()[1])"): "what the system tells",
    ("runtime/paid_run.py", "float(json.loads(path.read_text(encoding='utf-8'))['actual_cost_usd'])"): "our file",
    ("runtime/plurals.py", "int(count)"): "a number of ours, as Python has just written it",
    ("runtime/plurals.py", "int(decimals or '0')"): "a number of ours, as Python has just written it",
    ("runtime/plurals.py", "int(end)"): "a rule of a language",
    ("runtime/plurals.py", "int(modulus)"): "a rule of a language",
    ("runtime/run_request.py", "int(port)"): "whoever starts the server says where ranks meet",
    ("runtime/versions.py", "int(one)"): "a version of an installed package",
    ("runtime/prose.py", "float(value)"): "a fraction that was computed",
    ("runtime/prose.py", "int(number)"): "a number that was computed",
    ("runtime/run_failure.py", "int(code[1])"): "torchrun's own line",
    ("core/pipeline_bubble/experiments.py", "Fraction(slowed)"): "a time that was computed",
    ("core/pipeline_bubble/schedules/actions.py", "Fraction(text)"): "behind a pattern of its own, and exact",
    ("core/sharding_math/provenance.py", "float(result.parts[rank][row, column])"): "an entry of an array",
    ("core/startup_log/reader.py", "int(logged)"): "a figure that the reader of a log has read",
    ("core/startup_log/reader.py", "int(predicted)"): "a figure that was computed",
    ("core/strategy/training/trace.py", "float(share)"): "a number of ours, as `addends` has just written it",
    ("core/strategy/training/trace.py", "int(share)"): "a number of ours, as `addends` has just written it",
    ("core/two_way_tp/run_log.py", "int(world['tp_size'])"): "what this machine's own run logged",
    ("core/units.py", "float(shown[largest])"): "a number of ours, as it has just written it",
    ("core/units.py", "float(total)"): "a number of ours, as it has just written it",
    ("core/units.py", "map(float, shown)"): "numbers of ours, as it has just written them",
    ("ui/figures/frames.py", "float(value)"): "a table's cell, a number already",
    ("ui/figures/frames.py", "int(value)"): "a table's cell, a number already",
    ("ui/figures/prediction.py", "int(high)"): "an axis's end, a number already",
    ("ui/two_way_tp/words.py", "int(exponent)"): "a number of ours, as Python has just written it",
}


def may_be_text(node: ast.expr) -> bool:
    """Whether a conversion's argument can be text, as far as its form tells."""
    if isinstance(node, ast.Call):
        called = node.func
        return called.attr in PARTS if isinstance(called, ast.Attribute) else ast.unparse(called) in ("str", "next")
    if isinstance(node, ast.BoolOp):
        return any(map(may_be_text, node.values))
    return isinstance(node, ast.Name | ast.Subscript | ast.Starred)


def meets_text(node: ast.AST) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in PARTS
        for one in ast.walk(node)
    )


def conversions(tree: ast.Module) -> set[str]:
    """What turns text into a number, as it is written; a converter that is handed on, as in `map(int, …)`, too."""
    imports = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and meets_text(node)]
    found = set()
    for node in [
        one for scope in ([tree] if imports & {"re", "csv", "json"} else functions) for one in ast.walk(scope)
    ]:
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in CONVERTS and any(map(may_be_text, node.args[:1])):
            found.add(ast.unparse(node))
        if ast.unparse(node.func) == "map" and ast.unparse(node.args[0]) in CONVERTS:
            found.add(ast.unparse(node))
    return found


def test_no_other_module_turns_text_into_a_number():
    found = {
        (path.relative_to(ROOT).as_posix(), text)
        for path in READERS
        for text in conversions(ast.parse(path.read_text("utf-8")))
    }
    assert found == set(NO_VISITORS_TEXT)


@pytest.mark.parametrize(
    "line", ["float(match[1])", "int(text)", "int(found.group(1))", "list(map(int, sizes))", "float(a or b)"]
)
def test_a_reader_of_its_own_is_found(line):
    assert conversions(ast.parse(f"import re\ndef read(text):\n    return {line}\n"))
    assert conversions(ast.parse(f"def read(text):\n    a, b = text.split()\n    return {line}\n"))
