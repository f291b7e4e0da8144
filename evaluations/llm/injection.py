"""Detect outputs that address the judge (prompt injection). Pure.

Such a text cannot change where a rating is read from: the form stands after all inputs, and only
the reply is parsed. But it may sway the model, so reports say how many there are. The pattern is
for Python and PostgreSQL alike.
"""

import re

PATTERN = (
    r"(ignore|disregard|forget) (all |any |the |your )*(previous|prior|above|earlier|other) "
    r"(instructions|prompts?|rules|criteria)"
    r"|(give|rate|assign|award|grade|score) (it|me|us|this|(this|the)"
    r" (summary|text|response|output|answer)) "
    r".{0,40}(score|rating|grade|point|10|5)"
    r"|(rating|score|grade) (is|should be|must be) *(10|5|five|ten|100|perfect|the"
    r" (highest|maximum))"
    r"|(dear|attention|note to( the)?) (judge|evaluator|grader|rater|ai|llm|assistant)"
    r"|you are (an? |the )?(judge|evaluator|grader|rater)"
)
_COMPILED = re.compile(PATTERN, re.I | re.S)


def addresses_judge(text: str) -> bool:
    """Whether a text seems to tell its judge what to do."""
    return bool(_COMPILED.search(text))
