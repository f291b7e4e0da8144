"""Short questions to people, one per line: a choice, a number or a text. Pure.

    Is German your first language? | yes = 50, no = 0
    How many years have you worked as a translator? | number
    Is there anything else that we should know? | text

A number after a choice says how many people with that answer are wanted. Choices and numbers are
required, texts are optional. Questions and choices can be in several languages: `Are you a teacher?
[de] Lehren Sie? | yes [de] ja = 50, no [de] nein`; answers are stored by their first words.
"""

import math
from dataclasses import dataclass, field
from typing import Any

from geval.texts.in_languages import name_in

CHOICE, NUMBER, TEXT = "choice", "number", "text"
MOST_QUESTIONS, MOST_OPTIONS, LONGEST = 30, 50, 300
MOST_PEOPLE = 1_000_000


class ShortQuestionError(ValueError):
    """A line is not a question; the message says which, and the expected form."""


@dataclass(frozen=True)
class ShortQuestion:
    """A question; `quotas` has the number of people wanted by option, where stated. The text and
    the options are as written, in all languages."""

    text: str
    kind: str
    options: tuple[str, ...] = ()
    quotas: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The key under which its answers are stored."""
        return name_in(self.text)

    @property
    def line(self) -> str:
        """The line from which it is read."""
        wanted = {option: self.quotas.get(name_in(option)) for option in self.options}
        options = ", ".join(
            option if people is None else f"{option} = {people}"
            for option, people in wanted.items()
        )
        return f"{self.text} | {options or self.kind}"

    def as_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "kind": self.kind,
            "options": list(self.options),
            "quotas": self.quotas,
        }


def question_of(stored: dict[str, Any]) -> ShortQuestion:
    """Load a question from its JSON."""
    return ShortQuestion(
        stored["text"], stored["kind"], tuple(stored["options"]), dict(stored["quotas"])
    )


def read_questions(lines: str) -> list[ShortQuestion]:
    """
    Raises:
        ShortQuestionError: by its number, the first line that is no question.
    """
    questions: list[ShortQuestion] = []
    for number, line in enumerate(lines.splitlines(), start=1):
        if line.strip():
            question = _question(line.strip(), number)
            if any(question.name == other.name for other in questions):
                raise ShortQuestionError(f"Line {number}: this question is asked already.")
            questions.append(question)
    if len(questions) > MOST_QUESTIONS:
        raise ShortQuestionError(f"Ask at most {MOST_QUESTIONS} questions.")
    return questions


def _question(line: str, number: int) -> ShortQuestion:
    text, bar, answers = (part.strip() for part in line.rpartition("|"))
    if not (text and bar and answers):
        raise ShortQuestionError(
            f"Line {number}: write the question, then | and “text”, “number” or the choices,"
            " separated by commas."
        )
    if len(line) > LONGEST:
        raise ShortQuestionError(f"Line {number} has more than {LONGEST} characters.")
    if answers in (TEXT, NUMBER):
        return ShortQuestion(text, answers)
    options, quotas, names = [], {}, set()
    for part in answers.split(","):
        option, equals, wanted = (piece.strip() for piece in part.partition("="))
        name = name_in(option)
        if not option or name in names:
            raise ShortQuestionError(f"Line {number}: a choice is empty or there twice.")
        options.append(option)
        names.add(name)
        if equals:
            if not (wanted.isascii() and wanted.isdecimal() and int(wanted) <= MOST_PEOPLE):
                raise ShortQuestionError(
                    f"Line {number}: after “{option} =” write how many people are wanted."
                )
            quotas[name] = int(wanted)
    if not 2 <= len(options) <= MOST_OPTIONS:
        raise ShortQuestionError(
            f"Line {number}: write “text”, “number” or 2 to {MOST_OPTIONS} choices, separated by"
            " commas."
        )
    return ShortQuestion(text, CHOICE, tuple(options), quotas)


def shown_number(value: float) -> float | int:
    """Return a number as it was typed: integers without a decimal point."""
    return int(value) if math.isfinite(value) and value == int(value) else value
