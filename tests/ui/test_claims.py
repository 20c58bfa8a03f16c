"""Words that were wrong once: each claim is told with what it depends on."""

import re

import pytest

from runtime import content

LABEL_WORDS = 6
"""A label names where a link lies, and claims nothing of where tensor parallelism ends."""
NODE = re.compile(r"\b(?:inside|within|leaves?) (?:a|one|each|the|its) node\b", re.IGNORECASE)


@pytest.mark.parametrize("stem", content.stems())
def test_the_boundary_of_a_fast_link_is_told_as_the_nvlink_domain(stem):
    """Since racks of 72 GPUs share NVLink, a node is the usual case and not the rule."""
    sentences = {name: text for name, text in content.load(stem).items() if len(text.split()) > LABEL_WORDS}
    assert not {name for name, text in sentences.items() if NODE.search(text) and "NVLink" not in text}


@pytest.mark.parametrize(
    ("stem", "block", "said"),
    [
        ("strategy", "memory.paid", "the rank at a node's edge sends"),
        ("comm_cost", "see.reading_prefill", "{{mfu|%0}} of the data sheet"),
        ("start_here", "prefill.reading", "by the data sheet"),
        ("two_way_tp", "limits.body", "contend for {{cores}}"),
        ("two_way_tp", "limits.body", "{{spread_tcp}} times"),
        ("reading_rooms", "megatron.seeds", "hree"),
        ("reading_rooms", "megatron.overlap", "backward pass"),
        ("reading_rooms", "megatron.overlap", "NCCL"),
        ("reading_rooms", "vllm.logits", "every rank"),
        ("strategy", "serving.interference", "hides part"),
    ],
)
def test_a_claim_says_what_it_depends_on(stem, block, said):
    assert said in content.load(stem)[block]
