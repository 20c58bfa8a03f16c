"""The run on a GPU: what was foretold of it, and figures beside it, read from the files of its parts."""

import json

import pytest

from core.catalog import gpu
from core.errors import UnreadableTextError
from core.evidence import own_gpu
from core.evidence.own_gpu import LAYERS, LayerShape, predictions, read_part, read_told, told_line
from core.models.parameters import count_parameters
from runtime import own_gpu as files

MADE = "2026-11-28T09:00:00+00:00"


def ledger(some):
    lines = []
    for one in some:
        lines.append(told_line(lines[-1] if lines else "", one))
    return lines


def part(value=100e-6, date="2026-12-01T00:00:00+00:00", name="NVIDIA H200", cpu_only=False):
    row = {
        "key": "layer llama-3-8b tp=1 b=1 graph bf16", "value": value, "low": value, "high": 2 * value, "unit": "s",
        "repeats": 7, "device": {"clocks.sm": "1980"},
    }  # fmt: skip
    told = {"date": date, "commit": "abc", "cpu_only": cpu_only, "device": {"name": name, "torch": "2.9"}}
    return json.dumps({"part": "layers", **told, "rows": [row], "left_out": []})


def test_a_layers_weights_are_a_layer_of_the_models_parameters():
    """Norms aside, two a layer and one at the end; over ranks they add up to it."""
    for key in ("llama-3-8b", "llama-3-70b"):
        shape = LayerShape(key)
        row = shape.model
        counted = (count_parameters(row).layers - row.hidden_size) // row.num_hidden_layers - 2 * row.hidden_size
        assert shape.attention_weights + shape.mlp_weights(1) == counted
        for ranks in (2, 4, 8):
            part_of = LayerShape(key, ranks)
            assert ranks * (part_of.attention_weights + part_of.mlp_weights(1)) == counted


def test_no_prediction_beats_the_memory():
    """What is read takes at least its bytes over the data sheet's bandwidth."""
    for gpu_key in own_gpu.FORETOLD_GPUS:
        row = gpu(gpu_key)
        told = {one.key: one for one in predictions(gpu_key, MADE)}
        for shape in LAYERS:
            for batch in own_gpu.BATCHES:
                one = told[own_gpu.layer_key(shape, batch, "graph", "bf16")]
                assert one.predicted >= shape.read_bytes(batch, 2) / row.memory_bytes_per_s
        assert all(one.predicted < row.memory_bytes_per_s for one in told.values() if one.unit == "bytes_per_s")


def test_the_ledger_has_a_prediction_for_every_figure_and_is_only_appended_to(tmp_path):
    told = files.told()
    for gpu_key in own_gpu.FORETOLD_GPUS:
        assert {one.key for one in told if one.gpu == gpu_key} == {one.key for one in predictions(gpu_key, MADE)}
    own = tmp_path / "ledger.jsonl"
    first = files.foretell(MADE, own)
    text = own.read_text()
    assert files.foretell("2027-01-01T00:00:00+00:00", own) == first
    assert own.read_text() == text


@pytest.mark.parametrize("spoil", [lambda one: one[1:], lambda one: [one[1], one[0]], lambda one: [*one, one[0]]])
def test_a_line_that_was_changed_moved_or_taken_out_is_noticed(spoil):
    lines = ledger(list(predictions("h200-sxm", MADE))[:3])
    assert len(read_told(lines)) == 3
    with pytest.raises(UnreadableTextError):
        read_told(spoil(lines))
    with pytest.raises(UnreadableTextError):
        read_told([*lines[:1], lines[1].replace("s", "S", 1), lines[2]])


def test_a_figure_stands_beside_what_was_told_before_it():
    told = tuple(predictions("h200-sxm", MADE))
    (figure,) = read_part(part(), told)
    assert figure.ratio == figure.told.predicted / 100e-6
    assert (figure.high, figure.device["clocks.sm"], figure.commit) == (200e-6, "1980", "abc")
    for later in (part(date=MADE), part(name="NVIDIA A100-SXM4-80GB")):
        (alone,) = read_part(later, told)
        assert alone.told is None
        assert alone.ratio is None


def test_a_cpu_has_no_figures_and_what_is_no_part_is_refused():
    assert read_part(part(cpu_only=True)) == ()
    for text in ("", "[]", "{}", '{"rows": 1}', part().replace('"value"', '"worth"')):
        with pytest.raises(UnreadableTextError):
            read_part(text)


def test_figures_are_read_from_a_folder_and_a_capture_in_it_is_none(tmp_path):
    (tmp_path / "h200" / "capture").mkdir(parents=True)
    (tmp_path / "h200" / "layers.json").write_text(part(date="2099-01-01T00:00:00+00:00"))
    (tmp_path / "h200" / "capture" / "result.json").write_text("{}")
    (figure,) = files.own_figures(tmp_path)
    assert figure.told is not None
    assert isinstance(files.own_figures(), tuple)
