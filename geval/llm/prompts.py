"""G-Eval's prompt: composed from a criterion's parts, checked before any call, filled with the
texts. Pure.

A prompt is task introduction + evaluation criteria + evaluation steps + inputs + form (Liu et al.,
2023, section 2.1). Placeholders are written `{{Document}}`, in any case. All texts are inserted in
one pass, so a placeholder within a text is not replaced.

Prompts of prompt flow and other tools are Jinja templates. Those that only insert texts are
understood (`{{document}}`, `{{ Document | trim }}`), as are quoted braces (`{{ '{{' }}`), which are
shown; a prompt that uses other parts of Jinja is refused. The words of a criterion (introduction,
definition, steps) are data: braces in them are quoted when a template is composed.

Texts are optionally put between tags; a text between tags, whoever wrote them, can neither close
them nor open another tag around a text of the prompt.

Placeholders of conversations may set a window: `{{Conversation last=40 longest=2000}}` shows the
last 40 turns, and 2,000 characters of each text; the prompt says what is left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from geval.llm.delimiting import NOTE, between_tags, tagged_span, tags_around, without_tags
from geval.llm.item_texts import Texts
from geval.llm.prompt_examples import (
    EXAMPLE_TAGS,
    EXAMPLES_HEADING,
    pool_block,
    with_its_examples,
)
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import ChatRequest
from geval.statistics.scales import NOT_APPLICABLE, Scale, short
from geval.texts.sentences import excerpt
from geval.texts.turns import (
    ASSISTANT,
    LAST,
    LONGEST,
    Turn,
    Window,
    calls_of,
    quoted,
    quoted_body,
    quoted_transcript,
    speakers_in,
    transcript,
)

# Placeholder -> the field of a judged item that fills it. Summary and Response both name the
# candidate output.
PLACEHOLDERS = {
    "Document": "source",
    "Source": "source",
    "Context": "context",
    "Fact": "context",
    "Summary": "output",
    "Response": "output",
    "Output": "output",
    "Reference": "reference",
    "Conversation": "conversation",
    "Turn": "turn",
    "ToolCalls": "calls",
}
# Fields that show the judged text, turn or session.
_JUDGED = frozenset({"output", "turn", "conversation"})
_OF_TURNS = frozenset({"conversation", "turn", "calls"})
# In prompts that compare two outputs.
PAIR_PLACEHOLDERS = {"OutputA": "output", "OutputB": "rival"}
# The tag around a field's text, where texts are put between tags.
_TAGS = {shows: shows for shows in PLACEHOLDERS.values()} | {"output": "text"}
_PAIR_TAGS = {"outputa": "text_a", "outputb": "text_b"}
_FIELDS = {name.lower(): shows for name, shows in PLACEHOLDERS.items()}
_PAIR_FIELDS = {name.lower(): shows for name, shows in PAIR_PLACEHOLDERS.items()}
# Each inserts a whole text into the prompt, so a template with a few thousand would fill the
# memory.
MOST_PLACEHOLDERS = 100
STEPS_HEADING = "Evaluation Steps:"
ITEMS_REQUEST = """Write a rubric for this criterion: four to eight questions that are answered by \
yes or no, each about one thing, so that a text that is good on the criterion has yes everywhere.
Write a line for each, and nothing else: its weight from 1 to 3, its name of one to four words and \
the question, between bars. For example:

2 | Cites its sources | Does the text name the source of each figure?"""
DEFAULT_INPUTS = "Source Text:\n\n{{Document}}\n\nSummary:\n\n{{Summary}}"
DEFAULT_INTRODUCTION = (
    "You will be given a source text and a text that was written from it. Rate the written text on"
    " one metric only. Read these instructions with care and keep them in view while you rate."
)

JOINT_INTRODUCTION = (
    "You will be given a source text and a text that was written from it. Rate the written text on"
    " each of the metrics below, one by one. Read these instructions with care and keep them in"
    " view while you rate."
)

# The text between braces may end with spaces: a pattern that also looked for where these begin
# would take quadratic time.
_PLACEHOLDER = re.compile(r"\{\{\s*(\w[^{}]*)\}\}")
_BRACES = r"\{\{\s*(?:'([{}]{1,9})'|\"([{}]{1,9})\")\s*\}\}"
_INSERTED = re.compile(f"{_PLACEHOLDER.pattern}|{_BRACES}")
# What a placeholder or a part of Jinja begins with.
_BEGINNING = re.compile(r"\{(?=[{%#])")
# Jinja tags, comments, and expressions with whitespace control or a quoted text, which would be
# sent to the model unchanged. Bounded in length, as texts may contain anything.
_JINJA = re.compile(
    r"\{%.{0,400}?%\}|\{#.{0,400}?#\}"
    r"|\{\{[-+]\s*[A-Za-z_'\"][^{}]*\}\}|\{\{\s*\w[^{}]*[-+]\}\}"
    rf"|(?!{_BRACES})\{{\{{\s*(?:'[^'\n]{{0,99}}'|\"[^\"\n]{{0,99}}\")\s*\}}\}}",
    re.S,
)
_TRIM = re.compile(r"trim(?:\(\s*\))?")
ONLY_TEXTS = (
    "Of Jinja only placeholders such as {{Document}} and the filter trim are understood here"
)
_WINDOW = re.compile(r"(last|longest)=([1-9]\d{0,6})")


class PromptError(ValueError):
    """A prompt cannot be sent; the message names the wrong placeholder and the valid ones."""


@dataclass(frozen=True)
class JointCriterion:
    """Another criterion that is rated in the same prompt."""

    criterion: str
    scale: Scale
    definition: str = ""
    steps: str = ""


@dataclass(frozen=True)
class PromptParts:
    """The parts of a criterion's prompt; empty where it does not state one.

    `beside` are the criteria that are rated in the same prompt, in the order of its form; None
    stands for the criterion itself. Criteria with the same list share their prompt.
    """

    criterion: str
    scale: Scale
    definition: str = ""
    introduction: str = ""
    inputs: str = ""
    prompt_file: str = ""
    examples: str = ""
    nearest: int = 0
    beside: tuple[JointCriterion | None, ...] = ()


def compose_template(parts: PromptParts, *, steps: str | None, is_delimited: bool = False) -> str:
    """Compose a criterion's template, including its steps; a whole prompt file is used unchanged.

    Args:
        is_delimited: put each text between tags and call it data; otherwise it is the paper's
            prompt.

    Raises:
        PromptError: it has an unknown placeholder, or none for the candidate output.
    """
    if parts.prompt_file.strip():
        template = parts.prompt_file
    else:
        together = _rated_together(parts, steps or "")
        sections = [as_data(_introduction_and_criteria(parts, together))]
        if written := _steps_of(together):
            sections.append(as_data(f"{STEPS_HEADING}\n\n{written}"))
        if parts.examples.strip():
            sections.append(f"{EXAMPLES_HEADING}\n\n{pool_block(parts.examples, parts.nearest)}")
        sections.append(compose_inputs(parts, is_delimited=is_delimited))
        form = as_data("\n".join(f"- {heading_of(joint.criterion)}:" for joint in together))
        sections.append(f"Evaluation Form (scores ONLY):\n\n{form}")
        template = "\n\n\n".join(sections)
    check_template(template)
    return template


def as_data(text: str) -> str:
    """Return a text as a template shows it unchanged, also where it has braces."""
    return _BEGINNING.sub("{{'{'}}", text)


def compose_inputs(parts: PromptParts, *, is_delimited: bool) -> str:
    """Compose the part of a template that shows the texts."""
    inputs = parts.inputs.strip() or DEFAULT_INPUTS
    return f"{NOTE}\n\n{delimited(inputs)}" if is_delimited else inputs


def delimited(inputs: str) -> str:
    """Put each text in a part of a prompt between tags, unless it already is."""

    def tagged(match: re.Match[str]) -> str:
        name = match.group(1).rstrip().lower()
        place = _read(match.group(1))
        tag = _TAGS[place.shows] if place else _PAIR_TAGS.get(name)
        if tag is None or tagged_span(inputs, match.start(), match.end())[0]:
            return match[0]
        return between_tags(match[0], tag)

    return _PLACEHOLDER.sub(tagged, inputs)


def steps_prompt(parts: PromptParts) -> str:
    """Return the prompt that asks the LLM for evaluation steps: the judge's prompt up to and
    including their heading (auto chain-of-thought)."""
    alone = replace(parts, beside=())
    return f"{_introduction_and_criteria(alone, _rated_together(alone))}\n\n\n{STEPS_HEADING}"


def items_prompt(parts: PromptParts) -> str:
    """Return the prompt that asks the LLM for the items of a rubric, as lines of three parts."""
    alone = replace(parts, beside=())
    return f"{_introduction_and_criteria(alone, _rated_together(alone))}\n\n\n{ITEMS_REQUEST}"


def needs_steps(parts: PromptParts) -> bool:
    """Return whether the prompt has a place for generated steps; a whole prompt file has its own
    steps."""
    return not parts.prompt_file.strip()


def check_template(template: str) -> None:
    """Refuse a template with unknown placeholders, with none for the candidate output, with too
    many, or with parts of Jinja that are not understood.

    Raises:
        PromptError: names the placeholder and the valid ones, or the part of Jinja.
    """
    check_no_jinja(template)
    contents = [match.group(1).rstrip() for match in _PLACEHOLDER.finditer(template)]
    if len(contents) > MOST_PLACEHOLDERS:
        raise PromptError(
            f"The prompt has {len(contents):,} placeholders; it can have {MOST_PLACEHOLDERS}, as"
            " each puts a whole text in. Remove some."
        )
    written = {content: _read(content) for content in contents}
    valid = ", ".join(f"{{{{{name}}}}}" for name in PLACEHOLDERS)
    unknown = sorted(text for text, place in written.items() if place is None)
    if unknown:
        raise PromptError(
            f"The prompt has an unknown placeholder {{{{{unknown[0]}}}}}; it can use {valid}."
        )
    if not any(place.shows in _JUDGED for place in written.values() if place):
        raise PromptError(
            "The prompt has no placeholder for the text to judge; add {{Summary}} or {{Response}}."
        )


def check_no_jinja(template: str) -> None:
    """Refuse the parts of Jinja that are not understood, which would reach the model unchanged.

    Raises:
        PromptError: names the first of them, and says what to do.
    """
    if match := _JINJA.search(template):
        part = excerpt(match[0], 60)
        if part.startswith("{{"):
            advice = "Write the placeholder without “-” or “+”, and plain text as it is"
        elif part.startswith("{#"):
            advice = "Remove the comment"
        else:
            advice = "Remove the tag, or write a criterion for each case"
        raise PromptError(f"The prompt uses {part}, which is Jinja. {ONLY_TEXTS}. {advice}.")
    for match in _PLACEHOLDER.finditer(template):
        for name in _filters(match.group(1)):
            if not _TRIM.fullmatch(name):
                raise PromptError(
                    f"The prompt uses Jinja's filter “{name}” in {match[0]}. {ONLY_TEXTS}. Remove"
                    " the filter, and change the texts before they are loaded if they need it."
                )


@lru_cache(maxsize=256)
def fields_used(template: str) -> frozenset[str]:
    """Return the fields of an item that a template shows, such as source, output, context and
    reference."""
    return frozenset(place.shows for place in places_in(template))


@dataclass(frozen=True)
class Placed:
    """A placeholder in a template, from `start` to `end`: its field, whether whitespace around the
    text is stripped, and for turns its window."""

    shows: str
    window: Window = field(default_factory=Window)
    is_trimmed: bool = False
    start: int = 0
    end: int = 0


def places_in(template: str) -> tuple[Placed, ...]:
    """Return the valid placeholders of a template, in order."""
    return tuple(
        replace(place, start=match.start(), end=match.end())
        for match in _PLACEHOLDER.finditer(template)
        if (place := _read(match.group(1)))
    )


@lru_cache(maxsize=1024)
def _read(written: str) -> Placed | None:
    """Parse a placeholder; None if it is unknown, or its window or filters cannot be read."""
    name, *sizes = written.partition("|")[0].split() or [""]
    shows = _FIELDS.get(name.lower())
    if shows is None or (sizes and shows not in _OF_TURNS):
        return None
    matches = [_WINDOW.fullmatch(size) for size in sizes]
    filters = _filters(written)
    if not all(matches) or not all(_TRIM.fullmatch(name) for name in filters):
        return None
    window = {match[1]: int(match[2]) for match in matches if match}
    return Placed(
        shows,
        Window(window.get("last", LAST), window.get("longest", LONGEST)),
        is_trimmed=bool(filters),
    )


def _filters(written: str) -> list[str]:
    """Return the filters of a placeholder, in Jinja's notation."""
    return [name.strip() for name in written.split("|")[1:]]


def fill(template: str, texts: Mapping[str, str]) -> str:
    """Insert texts into a template with its own placeholders, such as that of an evaluator's
    setting.

    Args:
        texts: texts by the placeholders' names in lower case. All are inserted in one pass, so that
            placeholders within a text, and those of other names, stay unchanged.
    """

    def filled(match: re.Match[str]) -> str:
        name, _, filters = match.group(1).partition("|")
        text = texts.get(name.strip().lower())
        if text is None:
            return match[0]
        return text.strip() if filters else text

    return _PLACEHOLDER.sub(filled, template)


def split_before(template: str, name: str) -> str:
    """Return the part of a template before its last placeholder with this name (in lower case)."""
    places = [
        match.start()
        for match in _PLACEHOLDER.finditer(template)
        if match.group(1).partition("|")[0].strip().lower() == name
    ]
    return template[: places[-1]]


def names_in(template: str) -> list[str]:
    """Return the names of all placeholders in a template, valid or not, in lower case and in
    order."""
    return [
        match.group(1).partition("|")[0].strip().lower()
        for match in _PLACEHOLDER.finditer(template)
    ]


def windows(template: str, texts: Texts) -> str:
    """Describe which parts of a conversation a judge does not see; empty if it sees everything."""
    descriptions = [
        place.window.says(texts.conversation if place.shows == "conversation" else texts.said)
        for place in places_in(template)
        if place.shows in _OF_TURNS and texts.is_conversation
    ]
    return "; ".join(dict.fromkeys(filter(None, descriptions)))


def render(template: str, texts: Texts) -> str:
    """Fill a checked template with an item's texts.

    Raises:
        PromptError: the template shows a field that the item does not have.
    """
    fields = fields_used(template)
    _check_turns(fields, texts)
    for name in fields - _OF_TURNS - {"output"}:
        if not getattr(texts, name).strip():
            raise PromptError(f"The prompt shows the {name}, but this document has none.")
    tags = _tags_in(template)

    def filled(match: re.Match[str]) -> str:
        written, *braces = match.groups()
        if written is None:
            return braces[0] or braces[1]
        place = _read(written) or _of_a_pair(match)
        text = (
            _turns_shown(place, texts) if place.shows in _OF_TURNS else _text_of(place.shows, texts)
        )
        return without_tags(text.strip() if place.is_trimmed else text, tags)

    return _INSERTED.sub(filled, with_its_examples(template, texts))


def _of_a_pair(match: re.Match[str]) -> Placed:
    """Parse a placeholder of a prompt about two outputs, which is composed and so was not checked.

    Raises:
        PromptError: it is not a placeholder but part of a text of the criterion.
    """
    shows = _PAIR_FIELDS.get(match.group(1).rstrip().lower())
    if shows is None:
        raise PromptError(f"The prompt has an unknown placeholder {match[0][:100]}; remove it.")
    return Placed(shows)


@lru_cache(maxsize=256)
def _tags_in(template: str) -> frozenset[str]:
    """Return the tags around the texts of a template, with those of its examples."""
    tags = tags_around(template, [match.span() for match in _PLACEHOLDER.finditer(template)])
    return tags | EXAMPLE_TAGS if tags and EXAMPLES_HEADING in template else tags


def output_as_read(texts: Texts) -> str:
    """Return the output as a prompt shows it, except for tags in it."""
    return _text_of("output", texts)


def _text_of(name: str, texts: Texts) -> str:
    """Return a text as judges read it: in conversations, lines that pass for turns are quoted."""
    text: str = getattr(texts, name)
    stored = {"source": texts.history, "output": texts.turns, "rival": texts.rival_turns}
    if not texts.is_conversation or name not in stored or text == texts.as_read:
        return text
    turns, speakers = stored[name], _speakers(texts)
    if name != "source" and not texts.is_session and len(turns) <= 1:
        return quoted_body(text, turns[0] if turns else Turn(ASSISTANT, text), speakers)
    return quoted_transcript(text, turns, speakers)


def _speakers(texts: Texts) -> frozenset[str]:
    return speakers_in((*texts.history, *texts.said, *texts.rival_turns))


def _check_turns(fields: frozenset[str], texts: Texts) -> None:
    """Refuse a template for conversations that does not fit the kind of item.

    Raises:
        PromptError: the message says what it should show instead.
    """
    if not fields & _OF_TURNS:
        return
    if texts.rival and (texts.is_session or fields & {"turn", "calls"}):
        raise PromptError(
            "The prompt shows turns of one of two outputs; {{OutputA}} and {{OutputB}} show both."
        )
    if not texts.is_conversation:
        raise PromptError("The prompt shows turns, but this document is not a conversation.")
    if texts.is_session and "turn" in fields:
        raise PromptError(
            "The prompt shows a turn, but a whole session is rated; use {{Conversation}} alone."
        )
    if not (texts.rival or texts.is_session or fields & {"turn", "output"}):
        raise PromptError(
            "The prompt shows what was said before, but not the turn that is rated; add {{Turn}}."
        )


def _turns_shown(place: Placed, texts: Texts) -> str:
    """Return turns as a prompt shows them; wherever something is left out, a line says so."""
    window = place.window
    if place.shows == "turn":
        return transcript(_rated_turns(texts, window))
    if place.shows == "calls":
        calls = [call.written for call in calls_of(_rated_turns(texts, window))]
        left_out = max(0, len(calls) - window.last)
        note = [f"[Calls 1 to {left_out:,} of {len(calls):,} are left out]"] if left_out else []
        return "\n".join([*note, *calls[left_out:]]) or "(no tool was called)"
    return window.shown(texts.conversation, _speakers(texts)) or "(nothing was said before)"


def _rated_turns(texts: Texts, window: Window) -> list[Turn]:
    """Return the rated turns as judges read them."""
    speakers = _speakers(texts)
    return [quoted(window.of_turn(turn), speakers) for turn in texts.said]


def has_placeholder(text: str) -> bool:
    """Return whether a text contains a placeholder that would be filled or refused in a
    template."""
    return bool(_PLACEHOLDER.search(text) or _JINJA.search(text))


def heading_of(criterion: str) -> str:
    """Return a criterion's name with a capital first letter, as prompts begin a line with it."""
    return criterion[:1].upper() + criterion[1:]


def _rated_together(parts: PromptParts, steps: str = "") -> list[JointCriterion]:
    """Return all criteria of a prompt, in the order of its form."""
    own = JointCriterion(parts.criterion, parts.scale, parts.definition, steps)
    return [joint or own for joint in parts.beside or (None,)]


def _steps_of(together: list[JointCriterion]) -> str:
    written = [joint for joint in together if joint.steps.strip()]
    if len(together) == 1:
        return "".join(joint.steps.strip() for joint in written)
    return "\n\n".join(
        f"{heading_of(joint.criterion)}:\n{joint.steps.strip()}" for joint in written
    )


def _introduction_and_criteria(parts: PromptParts, together: list[JointCriterion]) -> str:
    default = DEFAULT_INTRODUCTION if len(together) == 1 else JOINT_INTRODUCTION
    introduction = parts.introduction.strip() or default
    criteria = "\n\n".join(map(_criterion, together))
    return f"{introduction}\n\n\nEvaluation Criteria:\n\n{criteria}"


def _criterion(joint: JointCriterion) -> str:
    scale = joint.scale
    if scale.labels:
        named = {point: label for label, point in scale.labels.items()}
        range_ = " / ".join(named.get(point, short(point)) for point in scale.points)
    else:
        range_ = f"{short(scale.lowest)}-{short(scale.highest)}"
    if scale.allows_not_applicable:
        between = " / " if scale.labels else ", or "
        range_ += f"{between}{NOT_APPLICABLE} where it does not apply or cannot be assessed"
    definition = f" - {joint.definition.strip()}" if joint.definition.strip() else ""
    return f"{heading_of(joint.criterion)} ({range_}){definition}"


# Steps are a list of sentences; the judge's own limit may be for a single number.
STEPS_MAX_TOKENS = 600


def steps_request(
    parts: PromptParts, settings: RequestSettings, *, is_for_items: bool = False
) -> ChatRequest:
    """Return the request for steps, or for a rubric's items: greedy, so that asking again gives the
    same if the model is deterministic. Where a judge's replies have room for a thought, so has this
    reply."""
    return ChatRequest(
        model=settings.model,
        prompt=items_prompt(parts) if is_for_items else steps_prompt(parts),
        temperature=None if settings.temperature is None else 0.0,
        max_tokens=max(STEPS_MAX_TOKENS, settings.max_tokens),
        length_parameter=settings.length_parameter,
        options=settings.options,
    )
