"""Lab 02 as a contract: the untouched starter fails by name, and plausible wrong answers are killed."""

import re

import pytest

from tests.lab_runs import ROOT, run_lab, run_mutants, survivors

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

LAB = "lab-02-two-way-tp"

REFERENCE = """
import torch
import torch.nn.functional as F
from distributed import layers, mini_gpt
from distributed.layers import ColumnParallelLinear, RowParallelLinear, ShardedEmbedding
from distributed.mini_gpt import ParallelMLP
"""

MUTANTS = {
    "the bias added before the sum, on every rank": (
        """
class RowParallelLinear(layers.RowParallelLinear):
    def forward(self, x):
        return self.group.all_reduce(F.linear(x, self.weight, self.bias))
""",
        "test_row_parallel_adds_the_bias_once",
    ),
    "the all-reduce left out": (
        """
class RowParallelLinear(layers.RowParallelLinear):
    def forward(self, x):
        y = F.linear(x, self.weight)
        return y if self.bias is None else y + self.bias
""",
        "test_row_parallel_matches_single_gpu",
    ),
    "y gathered where the next layer wants a shard": (
        """
class ColumnParallelLinear(layers.ColumnParallelLinear):
    def forward(self, x):
        return self.group.all_gather(super().forward(x))
""",
        "test_column_parallel_matches_single_gpu",
    ),
    "every rank keeps the first rows": (
        """
class ColumnParallelLinear(layers.ColumnParallelLinear):
    def load_full(self, weight, bias=None):
        rows = self.weight.shape[0]
        with torch.no_grad():
            self.weight.copy_(weight[:rows])
            self.bias.copy_(bias[:rows])
""",
        "test_column_parallel_matches_single_gpu",
    ),
    "another rank's token looked up as row 0": (
        """
class ShardedEmbedding(layers.ShardedEmbedding):
    def forward(self, tokens):
        row = (tokens - self.first_row).clamp(0, self.rows - 1)
        return self.group.all_reduce(F.embedding(row, self.weight))
""",
        "test_sharded_embedding_lookup",
    ),
    "the padding scored as a token": (
        """
class ShardedEmbedding(layers.ShardedEmbedding):
    def logits(self, x):
        return self.group.all_gather(F.linear(x, self.weight))
""",
        "test_tied_head_scores_the_vocabulary_and_not_its_padding",
    ),
    "a sum before the activation as well": (
        """
class ParallelMLP(mini_gpt.ParallelMLP):
    def forward(self, x):
        hidden = F.gelu(self.group.all_reduce(self.up_proj(x)) / self.group.size)
        return self.down_proj(hidden)
    def __init__(self, hidden_size, intermediate_size, group, bias=True):
        super().__init__(hidden_size, intermediate_size, group, bias)
        self.group = group
""",
        "test_mlp_pattern_minimal",
    ),
    "the table gathered in place of the logits": (
        """
class ShardedEmbedding(layers.ShardedEmbedding):
    def logits(self, x):
        return (x @ self.group.all_gather(self.weight.T))[..., : self.vocab_size]
""",
        "test_tied_head_scores_the_vocabulary_and_not_its_padding",
    ),
    "a sum that one rank alone asks for": (
        """
class ShardedEmbedding(layers.ShardedEmbedding):
    def forward(self, tokens):
        return self.group.all_reduce(self.weight) if self.group.rank == 0 else self.weight
""",
        "test_sharded_embedding_lookup",
    ),
    "a token beyond a rank's rows": (
        """
class ShardedEmbedding(layers.ShardedEmbedding):
    def forward(self, tokens):
        return self.group.all_reduce(F.embedding(tokens - self.first_row, self.weight))
""",
        "test_sharded_embedding_lookup",
    ),
    "another activation": (
        """
class ParallelMLP(mini_gpt.ParallelMLP):
    def forward(self, x):
        return self.down_proj(F.relu(self.up_proj(x)))
""",
        "test_mlp_pattern_minimal",
    ),
    "a remainder cut off in silence": (
        """
class ColumnParallelLinear(layers.ColumnParallelLinear):
    def __init__(self, in_features, out_features, group, bias=True):
        super().__init__(in_features, out_features // group.size * group.size, group, bias)
""",
        "test_a_layer_that_does_not_divide_is_refused",
    ),
}


SAYS = {
    "the bias added before the sum, on every rank": "Every entry is too large by 1 · bias",
    "the all-reduce left out": "Rank 0 has its own term alone",
    "y gathered where the next layer wants a shard": "Each rank has all of y: its own features are enough",
    "every rank keeps the first rows": "Every rank has the features of rank 0",
    "another rank's token looked up as row 0": "A token that a rank does not hold has to give zeros there",
    "the padding scored as a token": "The padding has a score: cut it off",
    "the table gathered in place of the logits": "256 was returned, and 96 is due",
    "a sum that one rank alone asks for": "this rank calls a collective that another rank does not call (line ",
    "a token beyond a rank's rows": "IndexError: index out of range in self (line ",
    "another activation": "The activation is a ReLU; GELU is asked for",
    "a sum before the activation as well": "2 was returned, and 1 is due. Each of the two layers took a sum",
    "a remainder cut off in silence": "a width of 8 over 5 ranks has to be refused",
}
"""What the learner is told of each slip that the lab knows."""


def test_each_plausible_bug_dies_by_the_test_of_its_rule_and_is_told_why(tmp_path):
    graded = run_mutants(LAB, REFERENCE, MUTANTS, tmp_path, ["torch", "distributed.local_ranks"])
    assert survivors(graded, MUTANTS) == set()
    for name, words in SAYS.items():
        told = " ".join(one.failure or "" for one in graded[name])
        assert words in told, name
        assert "Traceback" not in told, name


def test_an_untouched_starter_fails_every_test_by_lab_and_task(tmp_path):
    """And each task that the file names is what some test meets first."""
    pattern = re.compile(r"NotImplementedError: lab-02, task (\d): \w+")
    outcomes = run_lab(LAB, "starter", tmp_path / "report.xml")
    met = {outcome.name: pattern.findall(outcome.failure or "") for outcome in outcomes}
    assert all(met.values()), met
    source = (ROOT / "labs" / LAB / "starter.py").read_text(encoding="utf-8")
    assert {tasks[0] for tasks in met.values()} == set(re.findall(r"lab-02, task (\d)", source))
