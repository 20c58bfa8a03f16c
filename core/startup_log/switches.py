"""What an engine's arguments switch on beside the model: a draft, adapters, weights on the host, experts twice.

What an argument's value is made of is read too: a draft's method and tokens stand within its own.
"""

import re

from core.startup_log.arguments import arguments, is_on
from core.startup_log.known_arguments import unknown
from core.text.numbers import whole

_SWITCHES = {
    **dict.fromkeys(("speculative_config", "speculative_algo", "speculative_model", "speculative_draft_model_path",
                     "speculative_num", "num_speculative_tokens"), "draft"),
    **dict.fromkeys(("enable_lora", "lora_modules", "lora_paths", "lora_dirs"), "adapters"),
    **dict.fromkeys(("enable_dp_attention", "enable_attention_dp"), "dp_attention"),
    **dict.fromkeys(("cpu_offload", "kt_weight_path"), "offload"),
    "enable_dp_lm_head": "dp_head",
}  # fmt: skip
"""Arguments that put something on a GPU beside the model, or take some of it away, by how their names begin."""
_REDUNDANT = re.compile(r"num_redundant_experts['\"]?\s{0,3}[=:]\s{0,3}(\d{1,5})")
_SERVED = re.compile(r"\[?['\"]?([\w./-]{1,200})")
_NO_DRAFT = re.compile(r"['\"]?method['\"]?\s{0,3}[=:]\s{0,3}['\"]?(?:ngram|suffix|prompt_lookup)|ngram|NGRAM")
_DRAFTS = (
    ("draft_tokens", re.compile(r"num_spec(?:ulative)?_tokens['\"]?\s{0,3}[=:]\s{0,3}(\d{1,3})"), whole),
    ("draft_method", re.compile(r"method['\"]?\s{0,3}[=:]\s{0,3}['\"]?(\w{1,40})"), str),
)
"""What a draft's own arguments say of it."""


def switched(text: str, whole_list: bool) -> dict[str, object]:
    """What the arguments switch on: by name what rules here know, and the names of all that none knows."""
    given = {name: value for name, value in arguments(text).items() if is_on(value)}
    changes: dict[str, object] = {}
    for name, value in given.items():
        switch = next((of for prefix, of in _SWITCHES.items() if name.startswith(prefix)), None)
        if switch == "draft":
            changes |= {
                of: convert(match[1]) for of, pattern, convert in _DRAFTS if (match := pattern.search(value))
            }
        if switch and not (switch == "draft" and _NO_DRAFT.search(value)):
            changes[switch] = True
    if method := changes.get("draft_method"):
        changes["draft_method"] = "mtp" if str(method).endswith("mtp") else method
    if "deepep" in given.get("moe_a2a_backend", "") or "deepep" in given.get("all2all_backend", ""):
        changes["deepep"] = True
    if match := _REDUNDANT.search(given.get("eplb_config", "")):
        changes["redundant_experts"] = whole(match[1])
    if served := _SERVED.match(given.get("served_model_name", "")):
        changes["served_name"] = served[1]
    if names := unknown(given, whole_list):
        changes["unknown"] = names
    return changes
