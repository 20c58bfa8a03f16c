"""Every command behind one name: the same answers, completion, nearest names, one shape of JSON, quiet endings."""

import argparse
import json
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from core.catalog import LINKS, MODELS
from core.placement.asked import UTILISATION
from core.placement.demand import Demand
from core.placement.planner import place
from core.scenario import Scenario
from core.specs import GPUS_PER_NODE
from core.strategy.entrants import entrants
from core.strategy.picker import USUAL, Question, answer
from scripts import asking, load, strategy
from scripts.shardlab import COMMANDS, main, module_of, parsers
from scripts.terminal import BAD_INPUT, CLOSED, COMMON

ROOT = Path(__file__).resolve().parents[2]
RING = ["--op", "all_reduce", "--algorithm", "ring", "--ranks", "8", "--bytes", "8192", "--latency-us", "1"]


def test_a_command_answers_as_its_module_does(capsys):
    given = [*RING, "--bandwidth-gb-s", "100", "--json"]
    from scripts import collective

    assert main(["collective", *given]) == collective.main(given) == 0
    behind_the_name, alone = capsys.readouterr().out.splitlines()
    assert behind_the_name == alone
    said = json.loads(alone)
    assert said["schema_version"] == 1
    assert said["inputs"]["ranks"] == 8
    assert said["inputs"]["base_us"] == 0.0
    assert said["steps"] == 14


def test_every_module_with_a_command_is_behind_the_name():
    """Those that need a browser or npm, or are used by the others, are not."""
    apart = {"screenshots", "settled", "slides", "static_site"}
    apart |= {"terminal", "shardlab", "completion", "asking", "plan_printed"}
    modules = {path.stem for path in (ROOT / "scripts").glob("*.py")} - apart
    assert {module_of(name).partition(".")[2] for name in COMMANDS} == modules
    assert all(parser.prog == f"shardlab {name}" for name, parser in parsers().items())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["pln"], "did you mean plan?"),
        (["fit-link"], "did you mean fit-links?"),
        (["nothing-like-it"], "see shardlab --help"),
        (["plan", "--gpu", "h100", "--concurency", "8"], "did you mean --concurrency?"),
        (["bill", "--model", "lama-3-8b", "--tp", "2", "--link", "nvlink-4"], "did you mean llama-3-8b?"),
        (["bill", "--model", "llama-3-8b", "--tp", "2", "--link", "nvlink4"], "did you mean nvlink-4?"),
    ],
)
def test_the_nearest_name_is_offered_and_errors_are_json_too(capsys, given, said):
    for extra in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main([*given, *extra])
        out, err = capsys.readouterr()
        assert (ended.value.code, out, err.count("\n")) == (BAD_INPUT, "", 1)
        line = json.loads(err)["error"]["message"] if extra else err
        assert said in line


def test_an_option_that_several_commands_have_is_declared_in_one_place():
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "scripts").glob("*.py")}
    again = {(name, flag) for name, text in texts.items() for flag in COMMON if f'add_argument("{flag}"' in text}
    assert again == {("read_log.py", "--model")}, "one of two that exclude each other, which is no parser's own"
    assert all(
        sum(f'common("{flag}"' in text for text in texts.values()) > 1 for flag in COMMON if flag != "--network"
    )


WITH_JSON = {name: parser for name, parser in parsers().items() if "--json" in parser._option_string_actions}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("foretell", "budget")])
def test_a_misspelt_flag_of_any_command_is_one_line_with_the_nearest_there_is(capsys, name):
    flag = max((flag for flag in parsers()[name]._option_string_actions if flag.startswith("--")), key=len)
    needed = [word for action in parsers()[name]._actions if action.required for word in _given(action)]
    with pytest.raises(SystemExit) as ended:
        main([name, *needed, f"{flag[:-1]}x{flag[-1]}"])
    out, err = capsys.readouterr()
    assert (ended.value.code, out, err.count("\n")) == (BAD_INPUT, "", 1)
    assert f"did you mean {flag}?" in err


def _given(action):
    """A word that an argument takes."""
    word = "1" if action.type is int else str(next(iter(action.choices))) if action.choices else "1"
    return [action.option_strings[0], word] if action.option_strings else [word]


@pytest.mark.parametrize("name", WITH_JSON)
def test_what_any_command_cannot_read_is_one_json_object_where_json_is_asked(capsys, name):
    with pytest.raises(SystemExit) as ended:
        main([name, "--json", "--no-such-flag"])
    out, err = capsys.readouterr()
    said = json.loads(err)
    assert (ended.value.code, out, said["schema_version"]) == (BAD_INPUT, "", 1)
    assert {"kind", "message", "status"} == set(said["error"])


SMALL = {
    "plan": ["--model", "llama-3-8b", "--gpu", "a100", "--gpus-per-node", "2"],
    "load": ["--model", "llama-3-8b", "--gpu", "a100", "--requests", "20"],
    "race": ["--model", "llama-3-8b", "--gpu", "a100", "--gpus-per-node", "2", "--requests", "20"],
    "strategy": ["--model", "llama-3-8b", "--gpus-per-node", "2", "--for", "serve"],
    "bill": ["--model", "llama-3-8b", "--tp", "2", "--link", "nvlink-4"],
    "collective": [*RING, "--bandwidth-gb-s", "100"],
    "schedule": ["1f1b", "--stages", "2", "--microbatches", "4"],
    "tp-sizes": ["--model", "llama-3-8b"],
    "quiz": [],
}
"""One invocation of the commands that read no file of one's own; the others' JSON is held in their own tests."""


@pytest.mark.parametrize("name", SMALL)
def test_every_answer_says_its_schema_and_the_inputs_as_they_were_read(capsys, name):
    given = [word for action in parsers()[name]._actions if action.required for word in _given(action)]
    status = main([name, *(SMALL[name] or given), "--json"])
    out, err = capsys.readouterr()
    said = json.loads(out)
    assert (status, err, said["schema_version"]) == (0, "", 1)
    named = {action.dest for action in parsers()[name]._actions} - {"help", "json"}
    assert set(said["inputs"]) >= named


OTHER_QUESTIONS = {
    ("strategy", "gpu"): "the page's own first GPU; the planner's has none",
    ("bill", "tokens"): "of one decode step",
    ("schedule", "tokens"): "of a request in a drawn pipeline",
    ("clinic", "model"): "of a case that is made here",
    ("clinic", "tp"): "of a case that is made here",
    ("clinic", "ranks"): "of a case that is made here",
    ("strategy", "ranks"): "of one block",
    ("foretell", "dtype"): "a figure's width is put down, not looked up",
    ("race", "requests"): "of each of many plans",
    ("foretell", "engine"): "the one that a figure is of, of none where none is named",
}
"""What two commands name alike and ask of different things."""


def _flags(parser):
    """Flags of a command and of its sub-commands, with their defaults."""
    for action in (action for one in _leaves(parser) for action in one._actions):
        if (
            action.option_strings
            and action.default not in (None, False)
            and not isinstance(action.default, Path | list)
        ):
            yield action.dest, action.default


def test_what_commands_ask_alike_has_one_default_in_all_and_on_the_pages():
    """Each flag's default over every command; the planner's are the scenario's, which the pages begin with."""
    found = {}
    for name, parser in parsers().items():
        for dest, default in _flags(parser):
            if (name, dest) not in OTHER_QUESTIONS and dest not in ("help", "ledger"):
                found.setdefault(dest, {}).setdefault(default, []).append(name)
    assert {dest: said for dest, said in found.items() if len(said) > 1} == {}
    usual, begun = Demand(), Scenario()
    assert (begun.prompt_tokens, begun.output_tokens, begun.kv_dtype) == (
        usual.prompt_tokens,
        usual.output_tokens,
        usual.kv_dtype,
    )
    for dest, value in (
        ("prompt", usual.prompt_tokens),
        ("output", usual.output_tokens),
        ("acceptance", usual.acceptance),
        ("concurrency", usual.concurrency),
        ("utilisation", UTILISATION),
        ("gpus_per_node", GPUS_PER_NODE),
    ):
        assert set(found[dest]) == {value}, dest
    asked = {field.name: field.default for field in fields(Question)}
    strategy = dict(_flags(parsers()["strategy"]))
    assert (strategy["output"], strategy["goal"]) == (asked["output_tokens"], asked["goal"])
    assert USUAL["serve"] == (usual.concurrency, usual.prompt_tokens)
    assert asked["output_tokens"] == usual.output_tokens


@pytest.mark.parametrize("name", ["plan", "load"])
def test_a_machine_that_is_not_described_is_one_of_eight(capsys, name):
    """The inputs that two commands share are read alike where nothing is said of them."""
    fewer = ["--requests", "20"] if name == "load" else []
    assert main([name, "--model", "llama-3-8b", "--gpu", "a100", "--json", *fewer]) == 0
    said = json.loads(capsys.readouterr().out)["inputs"]
    assert (said["gpus_per_node"], said["nodes"], said["prompt"], said["output"]) == (8, 1, 2048, 256)


def _leaves(parser):
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return [one for action in below for one in action.choices.values()] or [parser]


def test_every_command_can_answer_as_json():
    for name, parser in parsers().items():
        assert all("--json" in one._option_string_actions for one in _leaves(parser)), name


def test_every_module_ends_as_the_installed_command_does():
    """Quietly where the reader has closed: `run` stands at the end of each."""
    for name in COMMANDS:
        text = (ROOT / "scripts" / f"{name.replace('-', '_')}.py").read_text()
        assert text.rstrip().endswith("run(main)"), name


def test_bash_completes_commands_flags_and_names(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out

    def completed(*words: str) -> list[str]:
        asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shardlab; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, check=True)
        return done.stdout.split()

    assert completed("shardlab", "fit") == ["fit-links"]
    assert completed("shardlab", "plan", "--gpus") == ["--gpus-per-node"]
    assert completed("shardlab", "plan", "--model", "llama-3-7") == ["llama-3-70b"]
    assert set(completed("shardlab", "bill", "--link", "nv")) == {key for key in LINKS if key.startswith("nv")}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_know_the_same_names(capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in (*COMMANDS, *MODELS))


def test_no_traceback_where_the_reader_has_closed():
    """`shardlab … | head`: what was not read is lost, and nothing is said of it."""
    program = "from scripts.terminal import run\ndef main():\n    print('x' * 10**6)\n    return 0\nrun(main)"
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert (running.stderr.read(), running.wait()) == (b"", CLOSED)


def test_the_entry_point_is_there_and_needs_no_more_than_core_does():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, function = project["scripts"]["shardlab"].partition(":")
    assert (module, function) == ("scripts.shardlab", "program")
    assert [one.partition(">")[0] for one in project["dependencies"]] == ["numpy"]


PLACED = (
    *("llama-3-8b", "llama-3-70b", "openai/gpt-oss-120b", "deepseek-v3", "google/gemma-3-27b-it", "mixtral-8x7b"),
    *("Qwen/Qwen3-235B-A22B-FP8", "meta-llama/Llama-3.1-405B-Instruct-FP8", "Qwen/Qwen3-32B-AWQ"),
    "nvidia/Llama-3.1-405B-Instruct-FP8",
)


@pytest.mark.parametrize("gpus", [1, 8])
@pytest.mark.parametrize("gpu_key", ["h100-sxm", "h200-sxm", "l40s", "mi300x"])
def test_whether_a_model_fits_is_told_alike_by_every_command(gpu_key, gpus):
    """gpt-oss-120b on one H100 fitted by `plan` and not by `strategy`, which took 64 sequences for granted."""
    known = parsers()
    told = {}
    for name in PLACED:
        asked = ["--model", name, "--gpu", gpu_key, "--gpus-per-node", str(gpus)]
        question = asking.question(known["plan"].parse_args(asked), Demand())
        told[name] = {
            bool(place(question).fitting),
            bool(entrants(asking.question(known["race"].parse_args(asked), Demand()))),
            load.named(known["load"].parse_args(asked))[1].fits,
            answer(strategy.asked(known["strategy"].parse_args([*asked, "--for", "serve"]))).stands,
        }
    assert {name for name, verdicts in told.items() if len(verdicts) > 1} == set()


def test_what_fits_by_default_is_told_so_by_the_command(capsys):
    given = ["--model", "openai/gpt-oss-120b", "--gpu", "h100-sxm", "--gpus-per-node", "1", "--json"]
    assert main(["plan", *given]) == main(["strategy", *given, "--for", "serve"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[1])["inputs"]["sequences"] == Demand().concurrency
