"""Read evaluation steps from a model's reply. Pure."""

import re

from geval.llm.replies import ReplyChoice

# As long as a part of a wording may be (`evaluators/wording.py`).
LONGEST_STEPS = 20_000
# A shorter reply that is not a list is taken for a refusal or a question.
SHORTEST_WITHOUT_A_LIST = 120
_ITEM = re.compile(r"^[^\S\n]{0,9}(?:\d{1,3}[.):]|[-*•])", re.M)
_HEADING = re.compile(r"\A#{0,6}\s{0,9}\*{0,3}Evaluation Steps\*{0,3}:?\*{0,3}\s{0,99}", re.I)
_FORM = re.compile(r"^[^\S\n]{0,9}#{0,6}[^\S\n]{0,9}\*{0,3}Evaluation Form", re.M)


class StepsError(ValueError):
    """The LLM's reply contains no evaluation steps."""


def read_steps(choice: ReplyChoice) -> str:
    """Return the steps in a reply, without the heading and the form that some models add.

    Raises:
        StepsError: nothing is left, or the reply is a refusal.
    """
    if choice.is_cut:
        raise StepsError(
            "The model's evaluation steps were cut off before their end. Write steps by hand, do "
            "without them, or use a model that needs fewer tokens."
        )
    text = _HEADING.sub("", choice.text[:LONGEST_STEPS].strip())
    text = _FORM.split(text, maxsplit=1)[0].strip()
    is_list = bool(_ITEM.search(text))
    if choice.refusal or len(text) < (20 if is_list else SHORTEST_WITHOUT_A_LIST):
        reply = choice.refusal or choice.text
        raise StepsError(
            f"The model wrote no evaluation steps, but: “{reply[:200]}”. Write steps by hand, or "
            "do without them."
        )
    return text
