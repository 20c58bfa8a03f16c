"""MiniGPT and its checkpoint: what it corrects, what it is cut into, and that its halves make the whole."""

import os
import pickle
import random
import sys
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from safetensors import safe_open  # noqa: E402

from core.errors import IndivisibleError  # noqa: E402
from core.models.parameters import total_parameters  # noqa: E402
from core.two_way_tp.predictions import MINI_GPT, weights_per_rank  # noqa: E402
from distributed import checkpoint, grammar, train_grammar  # noqa: E402
from distributed.collectives import Group  # noqa: E402
from distributed.decode import FixedStep, greedy  # noqa: E402
from distributed.grammar_corpus import corpus, part  # noqa: E402
from distributed.layers import cut_of  # noqa: E402
from distributed.mini_gpt import KVCache, MiniGPT, initialise  # noqa: E402
from distributed.tokenizer import ALPHABET, END_TOKEN, decode, encode, prompt  # noqa: E402


@pytest.fixture(scope="module")
def model():
    torch.set_num_threads(1)
    return grammar.load()


def rank_of(rank, size):
    group = Group()
    group.rank, group.size = rank, size
    return group


@pytest.mark.parametrize(
    ("given", "corrected"),
    [
        ("he goed to school", "he went to school"),
        ("i has eat", "i have eaten"),
        ("she dont like apples", "she doesn't like apples"),
        ("they are singing a song", "they are singing a song"),
    ],
)
def test_minigpt_corrects_what_it_never_saw(model, given, corrected):
    """The first three are held out by name; a sentence that is right is left as it is."""
    assert grammar.correct(model, given) == corrected


@pytest.mark.parametrize("name", ["triples", "templates"])
def test_held_out_combinations_are_corrected_in_over_95_of_100(model, name):
    """On the whole parts `python -m distributed.grammar --held-out` finds 99.4 % and 96.8 %; this is a sample."""
    sample = random.Random(1).sample(part(corpus(), name), 200)
    assert grammar.score(model, name, sample).exact_fraction > 0.95


def test_no_held_out_sentence_is_trained_on():
    examples = corpus()
    trained = {example.wrong for example in part(examples, "train")}
    held_out = {example.wrong for name in ("triples", "templates") for example in part(examples, name)}
    assert held_out
    assert not trained & held_out


def test_every_word_of_a_held_out_sentence_is_met_in_training():
    """What is new is the combination: a form that was never shown could not be guessed."""
    examples = corpus()
    words = {word for example in part(examples, "train") for word in (example.wrong + " " + example.right).split()}
    for example in examples:
        assert set(example.right.split()) <= words, example


def test_the_corpus_is_the_same_every_time():
    assert corpus.__wrapped__() == corpus()


def test_decoding_many_at_once_is_decoding_one_by_one(model):
    """Batched decoding pads nothing: sentences of one length share a batch."""
    sentences = [example.wrong for example in part(corpus(), "triples")[:40]]
    assert grammar.correct_many(model, sentences) == [grammar.correct(model, sentence) for sentence in sentences]


def test_the_cache_changes_no_logit(model):
    """A decode step over cached keys gives what a pass over the whole text gives, to a float's last digits."""
    decoded = greedy(model, prompt("he goed to school"), 12)
    text = torch.tensor([prompt("he goed to school") + decoded.tokens[:-1]])
    with torch.inference_mode():
        whole = model(text)[0, -len(decoded.tokens) :]
    assert torch.allclose(torch.stack(decoded.logits), whole, atol=1e-4)


def test_a_step_of_one_shape_writes_the_same(model):
    """What a GPU would replay: a position and a mask for a cache that grows, used for one text after another."""
    fixed = FixedStep(model)
    for sentence in ("he goed to school", "i has eat"):
        grown = greedy(model, prompt(sentence), 30, END_TOKEN)
        told = greedy(model, prompt(sentence), 30, END_TOKEN, fixed)
        assert told.tokens == grown.tokens
        assert torch.allclose(torch.stack(told.logits), torch.stack(grown.logits), atol=1e-4)


def test_a_spec_counts_what_torch_holds(model):
    assert sum(parameter.numel() for parameter in model.parameters()) == total_parameters(MINI_GPT)


@pytest.mark.parametrize("tp_size", [1, 2, 4])
def test_weights_per_rank_are_predicted_to_the_byte(tp_size):
    """Counted by core from the shape, allocated by torch, on the first rank and on the last."""
    for rank in (0, tp_size - 1):
        model = MiniGPT(MINI_GPT, rank_of(rank, tp_size))
        assert model.weights_bytes == weights_per_rank(MINI_GPT, tp_size).bytes


def dim_of(parameter):
    """Along which dim a parameter is cut, if it is."""
    cut = cut_of(parameter)
    return None if cut is None else cut.dim


@pytest.mark.parametrize("tp_size", [1, 2, 4])
def test_the_slices_the_ranks_read_make_the_checkpoint(tp_size):
    """Every sharded tensor, its ranks' parts joined and its padding cut off, is the stored one."""
    ranks = []
    for rank in range(tp_size):
        ranks.append(MiniGPT(MINI_GPT, rank_of(rank, tp_size)))
        checkpoint.load_sharded(ranks[-1])
    with safe_open(checkpoint.CHECKPOINT, framework="pt") as file:
        for name, parameter in ranks[0].named_parameters():
            stored, dim = file.get_tensor(name), dim_of(parameter)
            parts = [model.get_parameter(name) for model in ranks]
            joined = parts[0] if dim is None else torch.cat(parts, dim).narrow(dim, 0, stored.shape[dim])
            assert torch.equal(joined, stored), name


def test_each_rank_reads_its_slices_and_no_more():
    """Together two ranks read the file once, and what is whole on every rank a second time."""
    halves = [checkpoint.load_sharded(MiniGPT(MINI_GPT, rank_of(rank, 2))) for rank in range(2)]
    once = checkpoint.load_sharded(MiniGPT(MINI_GPT, Group()))
    assert sum(halves) == once + 4 * weights_per_rank(MINI_GPT, 2).whole


@pytest.mark.parametrize("tp_size", [2, 4])
def test_random_weights_are_one_model_whatever_the_ranks(tp_size):
    """Each rank draws the whole and keeps its part: joined, the parts are the model that one rank draws."""
    spec = replace(MINI_GPT, num_hidden_layers=1)
    ranks = [MiniGPT(spec, rank_of(rank, tp_size)) for rank in range(tp_size)]
    alone = MiniGPT(spec, Group())
    for model in (alone, *ranks):
        initialise(model, 3)
    for name, whole in alone.named_parameters():
        parts, dim = [model.get_parameter(name) for model in ranks], dim_of(whole)
        joined = parts[0] if dim is None else torch.cat(parts, dim).narrow(dim, 0, whole.shape[dim])
        assert torch.equal(joined, whole), name


def test_heads_that_do_not_divide_are_refused():
    with pytest.raises(IndivisibleError, match="num_attention_heads=4 does not divide over tp_size=3"):
        MiniGPT(MINI_GPT, rank_of(0, 3))


def test_a_cache_is_cut_by_heads():
    """2 · 4 layers · 2 heads · 24 · 4 B = 1536 B a token on each of two ranks."""
    assert KVCache(MINI_GPT, rank_of(1, 2), 10).nbytes == 15360
    assert KVCache(MINI_GPT, Group(), 10).nbytes == 30720


def test_a_missing_checkpoint_says_how_to_make_one(tmp_path):
    with pytest.raises(checkpoint.CheckpointError, match=r"python -m distributed\.train_grammar"):
        grammar.load(tmp_path / "none.safetensors")


class Pickled:
    """What a pickle runs when it is read."""

    def __reduce__(self):
        return os._exit, (7,)


def cut_in_half(whole):
    return whole[: len(whole) // 2]


@pytest.mark.parametrize(
    "content",
    [
        cut_in_half,
        lambda whole: whole[:4],
        lambda whole: b"",
        lambda whole: pickle.dumps(Pickled()),
        lambda whole: b"\xff" * 8 + whole[8:],
        lambda whole: whole[:8] + b"{" + whole[9:40] + b"\0" * 60 + whole[100:],
    ],
    ids=["cut", "head alone", "empty", "a pickle", "a header without end", "a header of no JSON"],
)
def test_a_checkpoint_that_is_no_whole_safetensors_file_is_refused_and_never_run(content, tmp_path):
    file = tmp_path / "model.safetensors"
    file.write_bytes(content(checkpoint.CHECKPOINT.read_bytes()))
    with pytest.raises(checkpoint.CheckpointError, match=r"cannot read model\.safetensors as safetensors"):
        checkpoint.load_sharded(MiniGPT(MINI_GPT, Group()), file)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    other = MiniGPT(replace(MINI_GPT, intermediate_size=192), Group())
    initialise(other, 0)
    checkpoint.save(other, tmp_path / "other.safetensors", {})
    with pytest.raises(checkpoint.CheckpointError, match="up_proj"):
        grammar.load(tmp_path / "other.safetensors")


def test_training_with_one_seed_gives_one_model():
    """Two steps, twice: the same weights to the bit, and other ones for another seed."""
    first, again, other = (train_grammar.train(2, seed, 8, 0.02)[0].state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not all(torch.equal(first[name], other[name]) for name in first)


def test_a_sign_that_is_no_letter_is_refused_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["grammar", "7 apples"])
    with pytest.raises(SystemExit) as ended:
        grammar.main()
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", "'7' is not one of the tokenizer's 31 signs\n")


def test_the_tokenizer_gives_back_what_it_was_given():
    assert decode(encode(ALPHABET)) == ALPHABET
    with pytest.raises(ValueError, match="'7' is not one of"):
        encode("7 apples")
