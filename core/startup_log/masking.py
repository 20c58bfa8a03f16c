"""What a log gives away of who ran it and where: hosts, addresses, folders, users, keys.

All covered before it is shown.
"""

import re

_RULES = (
    (re.compile(r"\b(?:hf|sk|ghp|github_pat|xox[abp])[_-][A-Za-z0-9_-]{8,200}"), "<token>"),
    (re.compile(r"(?i)\b((?:api[_-]?key|token|password|secret|authorization)['\"]?\s{0,3}[=:]\s{0,3}\[?['\"]?)"
                r"(?!None\b|null\b|<)[^\s'\",)]{4,200}"), r"\1<token>"),
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{2,64}"), "<mail>"),
    (re.compile(r"\b(?:https?|tcp|ipc|file|s3|gs|hdfs|zmq)://[^\s'\",)>]{1,400}"), "<address>"),
    (re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?:<\d{1,3}>)?(?![\d.])"), "<address>"),
    (re.compile(r"(?<![\w:])(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}(?![\w:])"), "<address>"),
    (re.compile(r"(?<![\w/.:-])(?=[\d.-]{0,100}[A-Za-z_])[\w-][\w.-]{0,100}:(\d{2,9}):(\d{2,9}) \["),
     r"<host>:\1:\2 ["),
    (re.compile(r"(?i)\b((?:host(?:name)?|user(?:name)?|node_ip|ip|master_addr|hostname)['\"]?\s{0,2}=\s{0,2}['\"]?)"
                r"(?!None\b|<)[\w.-]{1,120}"), r"\1<host>"),
    (re.compile(r"(?<![\w<])(?:~|[A-Za-z]:)?(?:[/\\][\w.@+-]{1,120}){1,24}[/\\]([\w.@+-]{1,160})"), r"…/\1"),
)  # fmt: skip


def masked(text: str) -> str:
    """`text` with hosts, addresses, the folders of paths, users and keys covered. The last part of a path stays."""
    for pattern, cover in _RULES:
        text = pattern.sub(cover, text)
    return text
