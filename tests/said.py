"""What a page says, without the definitions that its terms carry."""

import re

_TERM = re.compile(
    r'<span class="term"><span role="button"[^>]*>([^<]*)</span><span role="tooltip".*?</span></span>'
)


def without_terms(markdown: str) -> str:
    """Prose as it stands in content/, each term the bare word it was."""
    return _TERM.sub(r"\1", markdown)
