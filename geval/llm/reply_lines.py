"""Whether a number in a reply is its rating, by its line and its sentence. Pure.

In a form a number follows a name of the rating or stands alone on its line. In prose it counts only
where its subject is the judge ("I would give it a 4"), the text ("the summary deserves a 4") or the
criterion.
"""

import re

from geval.llm import reply_words as words
from geval.llm.rating_names import (
    CRITERION,
    IN_BRACKETS,
    OTHER,
    Closeness,
    any_of,
    closeness_of,
    is_known,
    is_name,
    is_other_heading,
    states,
    words_of,
)
from geval.llm.reply_numbers import ENDS, GAP, WORD_ENDS, Number
from geval.statistics.scales import Scale

# Stands for the sign that makes a line a heading.
HEADING = "\x02"
_BEFORE, _LEAD = 140, 40
# A bullet, or the number of a form with a single line; "A: " as in question and answer, or an
# article; then an opening bracket or quotation mark.
_LINE_LEAD = re.compile(
    rf"[\s\x02\x03:=,→>|✅✔☑➡✨📊🔢]{{0,9}}(?:[-•+–][^\S\n]{{1,9}}|•)?(?:->{GAP}|➡{GAP})?(?:1[.)][^\S\n]{{1,9}})?"
    rf"(?:(?:[A-F]:|[Aa]n?)[^\S\n])?[(\['|<≈~+]?{GAP}[(\['|≈~+]?{GAP}"
)
# The number of a list item at the end of a text, with nothing after it.
_ITEM_BEFORE = re.compile(r"(?:^|\n)[^\S\n]{0,9}(?P<item>\d{1,3})[.)][^\S\n]{1,9}\Z")
_COPULAS = any_of([word if not word.isascii() else rf"\b{word}\b" for word in words.COPULAS])
_SEPARATOR = re.compile(
    rf"(?:[:=：|→]|[-=]>|(?<=[\s\)\]])[-–—](?=\s)|—|{_COPULAS})[\s|:]{{0,9}}(?:[-•][^\S\n]{{1,9}})?"
    rf"(?:an?[^\S\n])?[(\['<≈~+]?{GAP}$",
    re.I,
)
_BOUND = re.compile(r"(?:(?<![-=])[<>]|[≥≤±#$]|[<>]=)[^\S\n]{0,2}$")
_SENTENCE = re.compile(rf"[^\S\n]{{1,9}}(?:{any_of(words.SENTENCE_WORDS)})\b")
# "1. The text", "2) Grammar": a number that counts lines. A quotation is blank by now.
_COUNTS_LINES = re.compile(
    rf"[.)][^\S\n]{{0,200}}[^\s\d]|[.)][^\S\n]{{1,9}}\d|:{GAP}(?:\n|$)|\][^\S\n]{{1,9}}\w"
)
_NEGATION = re.compile("|".join(words.NEGATIONS), re.I)
_POSSIBLE = re.compile("|".join(words.POSSIBLE), re.I)
_CONDITIONAL = re.compile(
    rf"\bif\b.{{0,{_BEFORE}}}\bwould\b|もし|(?:れば|たら|(?<!私)なら)、", re.I
)
_YOU = re.compile(r"\byou\b", re.I)
_CONDITION_AFTER = re.compile(
    rf"{GAP}(?:{any_of(words.VERBS_AFTER)})?[,\s]{{1,3}}(?:{any_of(words.CONDITIONS)})", re.I
)
_REVISES = re.compile("|".join(words.REVISIONS), re.I)
_REVISES_AFTER = re.compile(rf"{GAP}に(?:変更|修正|訂正)")
_REVISED = re.compile(rf"(?:{any_of(words.REVISED)})(?![a-z])[\s,:]*", re.I)
# What a number is of, after it: "4 for fluency", "4 (fluency)".
_OF = re.compile(
    rf"{GAP}(?=[-(–—fr])(?:(?P<bracket>[(]|[-–—][^\S\n]){GAP})?(?P<reason>(?:for|regarding)[^\S\n])?"
    r"(?P<what>[^.,;:!?()\n]{1,40}?)"
    r"(?=[.,;:!?()\n]|$|[^\S\n](?:[-–—]|(?:and|und|et|because|as|since|but|due)\b))", re.I,
)  # fmt: skip
_ARTICLES = frozenset(("the", "its", "their", "overall"))
# Points of a scale are adjectives, criteria nouns.
_QUALITY = re.compile(
    r"(?:ness|(?<!qual)ity|[ae]n[ct][ey]|acy|[hk]eit|ität|[ae]nz|ité|dad|cia|zza|ità|ность|[性度さ])$"
)
_SENTENCE_END = re.compile(r"[.!?;\n。！？；…]|\d[^\S\n]*[,:]")
_TURN = re.compile(
    r"[,，、]\s*(?:but|so(?!\s+that)|yet|however|though|therefore|thus|hence)\b|[，、]|\bso(?!\s+that)\s",
    re.I,
)
# "5/5 for grammar, 2/5 for coherence".
_FOR_CRITERION = re.compile(rf"{GAP}(?:for|on|in terms of|für|pour|en)[^\S\n]{CRITERION}")
_VERB_AFTER = re.compile(rf"{GAP}(?:{any_of(words.VERBS_AFTER)})", re.I)
_CLAUSE_ENDS = re.compile(rf"[.!)]{{0,3}}{GAP}(?:\n|$)|[.!)]{{1,3}}\s")
_SUBJECTS_OR_VERBS = words.RATED | words.RATING_VERBS | words.OBJECT_VERBS | {"has"}
_CORRECTIONS = frozenset(("no", "wait", "actually", "rather"))
_CONCLUSIONS = words.LEADS | _CORRECTIONS
_LINE_END = re.compile(rf"{GAP}[.)]?{GAP}(?:\n|$)")
_CHOICE = re.compile(
    r"\b(?:I|we)(?:['’]d| would)? (?:prefer|choose|pick|select|go with|vote for)\s$", re.I
)
_ENDS_SENTENCE = re.compile(rf"[.!]?(?:\s|$)(?!\s{{0,3}}[(])|{GAP}(?:because|from me)\b", re.I)
_COUNTED = re.compile(r"\d[^\S\n]+(?!but|and|or|so|out|of)[a-z]{3,}")
_BARE_COPULA = re.compile(r"(?:it|this)(?: is|['’]s)\s*$", re.I)
_PART_HEADING = re.compile(
    rf"(?:(?<!{CRITERION}){CRITERION}+|(?<!{OTHER}){OTHER}+){IN_BRACKETS}"
    r"(?:[:：=|]|->|→|[^\S\n]{1,3}[-–—][^\S\n]|[^\S\n]{0,9}(?=\n|$))"
)
_LAST_PART = re.compile(r"[,:，：]")


def before(plain: str, start: int) -> str:
    return plain[max(0, start - _BEFORE) : start]


def begins_line(plain: str, start: int) -> bool:
    """Return whether only a bullet or a bracket precedes a position in its line."""
    line = line_start(plain, start)
    return line is not None and bool(_LINE_LEAD.fullmatch(plain, line, start))


def line_start(plain: str, place: int) -> int | None:
    """Return where the line of a position begins; None if that is further away than the longest
    bullet."""
    begins = plain.rfind("\n", max(0, place - _LEAD), place) + 1
    return None if begins == 0 and place > _LEAD else begins


def is_section(plain: str, number: Number) -> bool:
    """Return whether a number is a section number in a list, such as 1.1 in the line "1. 1.1"."""
    item = _ITEM_BEFORE.search(before(plain, number.start))
    return item is not None and number.text.startswith(f"{item['item']}.")


def form_closeness(plain: str, number: Number, scale: Scale) -> Closeness:
    """Return how closely the line of a number names it as the rating: by a heading before it, or
    as it is alone at the start of its line."""
    if is_bound(plain, number.start) or _is_signed_by_bullet(plain, number, scale):
        return Closeness.NONE
    clause = _SENTENCE_END.split(before(plain, number.start))[-1]
    if _FOR_CRITERION.match(plain, number.end) and _is_real(clause, plain, number.end):
        return Closeness.CRITERION
    lead = begins_line(plain, number.start)
    if lead and _is_item(plain, number):
        return Closeness.NONE
    ends = bool((WORD_ENDS if number.is_word else ENDS).match(plain, number.end))
    if not ends and not (lead and not number.is_word and _SENTENCE.match(plain, number.end)):
        return Closeness.NONE
    return place_closeness(plain, number.start, number.end, is_word=number.is_word)


def place_closeness(plain: str, start: int, end: int, *, is_word: bool) -> Closeness:
    """Return how closely the words before a place name a rating there."""
    heading = heading_closeness(plain, start, end, is_word=is_word)
    if heading != Closeness.CRITERION and _is_of_another(plain, end):
        return Closeness.NONE
    lead = begins_line(plain, start)
    if heading != Closeness.CRITERION and (lead or heading) and _under_other_heading(plain, start):
        return Closeness.NONE
    return max(heading, Closeness.RATING if lead else Closeness.NONE)


def is_bound(plain: str, start: int) -> bool:
    """Return whether a sign before a number makes it a bound or an amount: ">4", "$4", "#4"."""
    return _BOUND.search(plain, max(0, start - 4), start) is not None


def _is_item(plain: str, number: Number) -> bool:
    return bool(
        _COUNTS_LINES.match(plain, number.start + len(number.text))
        and not plain.endswith(("A ", "a "), 0, number.start)  # "A 4. The …" is not a list
    )


def _is_signed_by_bullet(plain: str, number: Number, scale: Scale) -> bool:
    """Return whether the bullet before a number may be its sign: "- 1" on a scale from -2."""
    sign = before(plain, number.start).rstrip()[-1:]
    return scale.lowest < 0 < number.value and sign in ("-", "–", "−")


def heading_closeness(plain: str, start: int, end: int, *, is_word: bool) -> Closeness:
    window = before(plain, start)
    if start > _BEFORE and plain[start - _BEFORE - 1] == CRITERION:
        window = window.lstrip(CRITERION)
    line = window.rpartition("\n")[2]
    separator = _SEPARATOR.search(window)
    if separator:
        heading = window[: separator.start()].rpartition("\n")[2]
        is_verb = separator[0].strip()[:1].isalpha()
        if is_verb and not _is_real(_SENTENCE_END.split(heading)[-1], plain, end):
            return Closeness.NONE
        return closeness_of(heading)
    # "Score 4": a name and its rating are all of a line.
    if is_word or not line.endswith((" ", "\t")) or not _LINE_END.match(plain, end):
        return Closeness.NONE
    closeness = closeness_of(line)
    return closeness if closeness and is_name(words_of(line)[-1]) else Closeness.NONE


def _under_other_heading(plain: str, start: int) -> bool:
    """Whether the line above is "Fluency:", or a row that heads a column so."""
    lines = before(plain, start).rpartition("\n")[0].rstrip(" \n|-")
    above = lines.rpartition("\n")[2].strip()
    return (above.startswith((HEADING, "|")) or above.endswith(":")) and is_other_heading(above)


def is_stated(plain: str, number: Number) -> bool:
    """Return whether prose states a number as its rating: "I would give it a 4", "the coherence of
    this text is 4", "4 out of 5"."""
    ends = ENDS.match(plain, number.end) and not plain.startswith(":", number.end)
    if number.is_word or not ends or is_bound(plain, number.start):
        return False
    window = before(plain, number.start)
    if window.endswith("from ") or _is_about_another(window):
        return False
    sentence = _SENTENCE_END.split(window)[-1]
    clause = _TURN.split(sentence)[-1]
    if CRITERION not in clause and _is_of_another(plain, number.end):
        return False
    is_conditional = _CONDITIONAL.search(sentence) and ("would" in clause or not sentence.isascii())
    is_yours = _YOU.search(_LAST_PART.split(clause)[-1])
    if is_conditional or is_yours or not _is_real(clause, plain, number.end):
        return False
    if not words.JUDGE.isdisjoint(words_of(clause)) and _VERB_AFTER.match(plain, number.end):
        return True
    return _has_subject(clause, plain, number)


def revises(plain: str, start: int, end: int) -> Closeness:
    """Return how clearly a sentence replaces an earlier rating: "I change my rating to 3", "On
    reflection, 3", "Revised score: 3"; `RATING` is perhaps."""
    sentence = _SENTENCE_END.split(before(plain, start))[-1]
    verb = _REVISES.search(sentence)
    if verb:
        is_revised = all(map(is_known, words_of(verb["of"] or "")))
    elif not (is_revised := _REVISES_AFTER.match(plain, end) is not None):
        bare = _REVISED.sub(" ", sentence, count=1)
        stated = bare.strip(" :=")
        is_stated = not stated or closeness_of(stated) >= Closeness.RATING
        is_revised = bare != sentence and is_stated and ENDS.match(plain, end) is not None
    if not is_revised or not _is_real(sentence, plain, end) or _is_of_another(plain, end):
        return Closeness.NONE
    return Closeness.RATING if verb and verb["perhaps"] else Closeness.CRITERION


def _is_of_another(plain: str, end: int) -> bool:
    """Return whether the words after a number name another criterion."""
    of = _OF.match(plain, end)
    if not of or not (of["bracket"] or of["reason"]) or CRITERION in of[0]:
        return False
    listed = [word for word in words_of(of["what"]) if word not in _ARTICLES]
    unknown = [word for word in listed if not is_known(word)]
    is_noun = unknown and (unknown[0][0] == OTHER or _QUALITY.search(unknown[0]))
    signs = (of["reason"], is_noun, len(listed) == 1)
    return len(unknown) == 1 and sum(map(bool, signs)) > 1


def is_chosen(plain: str, start: int, end: int) -> bool:
    """Return whether a sentence chooses what it names: "I prefer text A"."""
    clause = _SENTENCE_END.split(before(plain, start))[-1]
    return bool(_CHOICE.search(clause)) and _is_real(clause, plain, end)


def _is_real(clause: str, plain: str, end: int) -> bool:
    """Return whether a clause is about what is, neither denied nor only possible."""
    return not (
        _NEGATION.search(clause) or _POSSIBLE.search(clause) or _CONDITION_AFTER.match(plain, end)
    )


def _is_about_another(window: str) -> bool:
    """Return whether the line of a sentence has the heading of something else: "Fluency: …"."""
    heading, colon, _ = window.rpartition("\n")[2].partition(":")
    return bool(colon) and is_other_heading(heading)


def _has_subject(clause: str, plain: str, number: Number) -> bool:
    """Return whether the subject of a clause is the judge, the text or the criterion."""
    listed = words_of(clause)
    tail = len(listed)
    while tail and is_known(listed[tail - 1]):
        tail -= 1
    if states(listed[tail:]):
        return True
    last = words_of(_LAST_PART.split(clause)[-1])
    if not all(map(is_known, last)):
        return False
    if _BARE_COPULA.search(clause) and number.top is None:
        return False
    return _is_about_rating(last) or _is_fragment(last, clause, plain, number)


def _is_about_rating(listed: list[str]) -> bool:
    verbs = words.OBJECT_VERBS | words.LINKS
    for place, word in enumerate(listed):
        rest = listed[place + 1 :]
        if (is_name(word) and any(each in verbs for each in rest)) or (
            word in words.RATED and any(each in words.OBJECT_VERBS | {"rated"} for each in rest)
        ):
            return True
    return False


def _is_fragment(listed: list[str], clause: str, plain: str, number: Number) -> bool:
    """Return whether a number is all of a sentence without a verb: "4 out of 5", "A solid 4"."""
    if not _SUBJECTS_OR_VERBS.isdisjoint(listed):
        return False
    if number.top is not None:
        return "which" not in listed and ":" not in clause
    if listed[:1] in (["there's"], ["it's"], ["that's"]):
        return listed[1:] == ["a"]
    return listed[:1] in (["a"], ["an"], ["eine"], ["ein"]) and bool(
        _ENDS_SENTENCE.match(plain, number.end)
    )


def concludes(plain: str, number: Number) -> bool:
    """Return whether a number is all of a conclusion or a correction: "higher than 3, so 4",
    "5? No, 3"."""
    sentence = _SENTENCE_END.split(before(plain, number.start))[-1]
    clause = _TURN.split(sentence)[-1]
    listed = words_of(clause)
    is_conclusion = len(sentence) > len(clause) or not _CONCLUSIONS.isdisjoint(listed)
    return (
        is_conclusion
        and not (number.is_word or is_bound(plain, number.start) or _COUNTED.search(sentence))
        and _CONCLUSIONS.issuperset(listed)
        and ("," in clause or _CORRECTIONS.isdisjoint(listed))
        and bool(_CLAUSE_ENDS.match(plain, number.end))
    )


def part_about(plain: str) -> str:
    """Blank out everything in marked lines but the parts after the criterion's name; every
    character keeps its position."""
    headings = list(_PART_HEADING.finditer(plain))
    starts = [_heading_start(plain, match.start()) for match in headings]
    shown = [" "] * len(plain)
    # Without any heading the list of ends is longer, and everything stays blank.
    for match, end in zip(headings, [*starts[1:], len(plain)], strict=False):
        if match[0][0] == CRITERION:
            shown[match.start() : end] = plain[match.start() : end]
    return "".join(shown)


def _heading_start(plain: str, name: int) -> int:
    """Return where the heading with this name begins: at the bullet or number before it."""
    line = line_start(plain, name)
    if line is None or re.search(rf"[^\W\d_]|{CRITERION}|{OTHER}", plain[line:name]):
        return name
    return line
