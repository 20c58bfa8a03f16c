"""`shardlab ask`: which question was understood, the answer, and where to try it."""

import json
from urllib.parse import parse_qs, urlparse

import pytest

from core.ask.answers import ANSWERS
from scripts.ask import main
from scripts.terminal import OFF


def ask(capsys, *arguments: str, status: int = 0) -> dict:
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_an_answer_says_what_it_understood_first(capsys):
    assert main(["CodeLlama 13B on 4 A100, TP=4: why no faster than TP=2?"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Understood as: Why is a larger TP slower, or no faster?"
    assert lines[1].strip() == "Code Llama 13B in bf16 on 4 × A100 SXM 80 GB."
    assert any(line.startswith("To plan it: shardlab plan --model codellama/CodeLlama-13b-hf") for line in lines)


def test_a_link_opens_the_asker_s_own_model_and_gpus(capsys):
    told = ask(capsys, "Six A6000, Llama 3.1 70B: which TP?")
    address = urlparse(told["links"][0])
    query = {name: values[0] for name, values in parse_qs(address.query).items()}
    assert address.path == "/placement"
    assert (query["model"], query["gpu"], query["place_gpus"]) == ("llama-3.1-70b", "a6000", "6")
    assert told["command"].endswith("--gpu a6000 --gpus-per-node 6")


def test_words_may_come_apart_and_flags_beside_them(capsys):
    told = ask(capsys, "does", "it", "fit", "--model", "qwen3-32b", "--gpu", "rtx-4090", "--gpus", "1")
    assert told["kind"] == "fits"
    assert told["answer"][0].startswith("No: Qwen3 32B does not fit 1 GPU")


def test_what_is_not_understood_is_said_and_the_list_offered(capsys):
    assert main(["What is the weather?"]) == OFF
    printed = capsys.readouterr().out
    assert printed.startswith("That question is not known here")
    assert all(key in printed for key in ANSWERS)
    assert ask(capsys, "What is the weather?", status=OFF)["kind"] is None


def test_without_a_question_those_that_are_known_are_listed(capsys):
    assert set(ask(capsys)["kinds"]) == set(ANSWERS)


def test_a_kind_may_be_named_where_words_mean_another(capsys):
    assert ask(capsys, "Llama 3 8B on 4 A100", "--kind", "users")["kind"] == "users"
    with pytest.raises(SystemExit):
        main(["anything", "--kind", "nobody"])
