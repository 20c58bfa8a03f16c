"""The log reader from a terminal: the contract's fields, its exit statuses, and what may be given."""

import io
import json

import pytest

from scripts import read_log

WEIGHTS = "INFO 01-31 10:27:34 model_runner.py:1115] Loading model weights took {} GB\n"
CONFIG = (
    "INFO 01-31 10:27:20 llm_engine.py:237] Initializing an LLM engine (v0.6.3) with config: "
    "model='/home/ada/models/Meta-Llama-3-8B', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=4, "
    "pipeline_parallel_size=1, quantization=None, kv_cache_dtype=auto\n"
)
SHAPE = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def log(tmp_path):
    """A log with one figure, as a file."""

    def written(figure: str, config: str = CONFIG):
        path = tmp_path / "vllm.log"
        path.write_text(config + WEIGHTS.format(figure), encoding="utf-8")
        return str(path)

    return written


def printed(capsys, *arguments):
    status = read_log.main([*arguments, "--json"])
    out, err = capsys.readouterr()
    assert err == ""
    return status, json.loads(out)


def test_a_log_that_agrees_ends_in_nought(capsys, log):
    """Llama-3-8B over TP 4: 3.7418 GiB a rank, genlm/genlm-backend issue 10."""
    status, found = printed(capsys, log("3.7418"))
    assert status == 0
    head = ["schema_version", "inputs"]
    assert list(found) == [
        *head,
        "engine",
        "version",
        "model",
        "tp_size",
        "pp_size",
        "checks",
        "notes",
        "crash",
        "off",
    ]
    assert (found["engine"], found["version"], found["model"]) == ("vllm", "0.6.3", "llama-3-8b")
    assert (found["tp_size"], found["pp_size"]) == (4, 1)
    (check,) = found["checks"]
    assert list(check) == [
        "quantity",
        "rank",
        "logged",
        "predicted",
        "unit",
        "residual_fraction",
        "verdict",
        "line",
        "service",
    ]
    assert (check["quantity"], check["unit"], check["verdict"], check["line"]) == ("weights_gib", "GiB", "ok", 2)
    assert check["residual_fraction"] == pytest.approx(0, abs=5e-5)


def test_a_log_that_disagrees_ends_in_one(capsys, log):
    status, found = printed(capsys, log("14.9576"))
    assert status == 1
    assert found["checks"][0]["verdict"] == "off"


def test_what_is_unexplained_has_no_prediction_and_does_not_fail(capsys, log):
    status, found = printed(capsys, log("3.7418", config=""))
    assert status == 0
    (check,) = found["checks"]
    assert (check["verdict"], check["predicted"], check["residual_fraction"]) == ("unexplained", None, None)
    assert check["logged"] == 3.7418


def test_a_model_a_size_and_a_config_can_be_given(capsys, log, tmp_path):
    bare = log("3.7418", config="")
    assert printed(capsys, bare, "--model", "llama-3-8b", "--tp", "4")[1]["checks"][0]["verdict"] == "ok"
    config = tmp_path / "config.json"
    config.write_text(json.dumps(SHAPE), encoding="utf-8")
    assert printed(capsys, bare, "--config", str(config), "--tp", "4")[1]["checks"][0]["verdict"] == "ok"
    assert printed(capsys, bare, "--model", "llama-3-8b", "--tp", "4", "--dtype", "int8")[0] == 1


def test_standard_input_and_a_table_for_people(capsys, monkeypatch, log):
    with open(log("3.7418"), "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert read_log.main(["-"]) == 0
    out = capsys.readouterr().out
    assert "weights_gib" in out
    assert "✓ ok" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.log"],
        ["{letter}"],
        ["{log}", "--model", "llama-9"],
        ["{log}", "--tp", "0"],
        ["{log}", "--dtype", "fp3"],
        ["{log}", "--config", "nowhere.json"],
        ["{log}", "--config", "{letter}"],
        ["{log}", "--model", "llama-3-8b", "--config", "{letter}"],
    ],
)
def test_bad_input_is_one_line_on_stderr_and_ends_in_two(capsys, log, tmp_path, arguments):
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Ada, nothing runs here.", encoding="utf-8")
    filled = [argument.format(log=log("3.7418"), letter=letter) for argument in arguments]
    with pytest.raises(SystemExit) as ended:
        read_log.main([*filled, "--json"])
    out, err = capsys.readouterr()
    assert ended.value.code == 2
    assert out == ""
    assert err.count("\n") == 1


def test_a_log_that_ends_in_a_crash_ends_in_one(capsys, tmp_path):
    path = tmp_path / "vllm.log"
    path.write_text(f"{CONFIG}RuntimeError: NCCL error: unhandled system error\n", encoding="utf-8")
    status, found = printed(capsys, str(path))
    assert (status, found["off"]) == (1, 0)
    assert found["crash"] == {"line": 2, "text": "RuntimeError: NCCL error: unhandled system error"}


def test_a_crash_of_no_engine_is_said_too(capsys, tmp_path):
    path = tmp_path / "torch.log"
    path.write_text("[rank0]: torch.OutOfMemoryError: CUDA out of memory.\n", encoding="utf-8")
    assert read_log.main([str(path)]) == 1
    assert capsys.readouterr().out.startswith("no engine is recognized\n- the log ends in a crash, line 1")
