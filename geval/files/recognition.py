"""Recognise the meanings of a file's columns: by their names, then by their contents.

Pure. Known names are taken first (`mapping.guess_columns`). Columns in other languages are
recognised by how their values relate: a source repeats for each system, a system's name determines
the output for a source, a document's name has a single source. Numbers on a scale are read by
`rating_columns`. Where two readings remain, a question shows the result of each.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

from geval.files.cells import OVERALL, CellColumn, cell_of, people_and_judges
from geval.files.column_aliases import NAMES
from geval.files.contents import ColumnContent, Rows, contents_of, decides, may_be_rated
from geval.files.mapping import (
    COMMENTS,
    GROUPS,
    REMARKS,
    SCORES,
    cell_column,
    guess_columns,
    kind_of,
    plain_names,
)
from geval.files.questions import UploadAnswer, UploadQuestion, listed
from geval.files.rater_names import (
    LABELS_OF_JUDGES,
    LABELS_OF_PEOPLE,
    NUMBERED_PEOPLE,
    KnownNames,
    NameKind,
    folded,
    is_judge_like,
    without_noise,
)
from geval.files.rating_columns import (
    about_repeated_rows,
    about_several_outputs,
    may_be_ratings,
    read_rating_columns,
)
from geval.files.rows import Columns
from geval.texts.sentences import shortened

# How names of texts that were asked end.
QUESTIONS = ("question", "query", "prompt", "frage", "pregunta", "pergunta", "domanda")
# A column's name may become that of a criterion (`fields.CRITERION_LIMIT`).
LONGEST_COLUMN_NAME = 100
# Names of columns that can only mean documents.
OUR_IDS = ("doc_id", "document_id")
IDS = {*NAMES["doc_id"], "doc", "doc_name", "document_name", "docid", "dokument"}
# What identifies an output, and all that a column of a document or an output may be.
NAMES_OF_OUTPUTS = ("doc_id", "system_id")
TEXTS_AND_NAMES = {*GROUPS["Document"], *GROUPS["Output"]} - {"metadata"}
# What may number the scores of a judge, or systems.
RUNS = ("run", "run_id", "seed", "iteration", "iter")
# Kinds of tables with a row for each rating and nothing else.
LONG = ("ratings", "scores of judges")
# Beside a rater, a column of at least this share of numbers is read as ratings, with errors.
MANY_NUMBERS = 0.5
MOST_CHOICES = 4


@dataclass(frozen=True)
class Recognition:
    """The likely meanings of columns (others are left out), questions to ask first, and `notes`:
    what may surprise, in sentences."""

    columns: dict[str, str]
    questions: tuple[UploadQuestion, ...] = ()
    notes: tuple[str, ...] = ()


def recognise(
    names: Sequence[str], rows: Rows, project_names: KnownNames | None = None
) -> Recognition:
    """Recognise the columns of a file.

    Args:
        rows: a sample, by column.
        project_names: the names in the project.
    """
    guess = guess_columns(names, rows)
    if kind_of(guess) == "preferences":
        return Recognition(guess)
    in_project = project_names or KnownNames()
    guess |= _as_before(guess, names, in_project.columns)
    short = [name for name in names if len(name) <= LONGEST_COLUMN_NAME]
    contents = contents_of(short, rows)
    labels = _labels_side_by_side(contents)
    by_row = _criterion_of_rows(contents) if labels else ""
    guess |= _as_cells(labels, "" if by_row else OVERALL)
    if by_row:
        guess[by_row] = "criterion"
    if kind_of(guess) in LONG and (tidy := _as_tidy(guess, contents)):
        guess = tidy
    recognition = _Reading(guess, contents, in_project).recognition()
    if not labels or by_row or not in_project.criteria:
        return recognition
    others = {name: target for name, target in recognition.columns.items() if name not in labels}
    question = _about_the_criterion(
        list(labels), in_project.criteria, lambda name: _as_cells(labels, name)
    )
    return replace(recognition, columns=others, questions=(*recognition.questions, question))


def _as_before(guess: Columns, names: Sequence[str], earlier: Columns) -> dict[str, str]:
    """Return the texts and names that no column of a file is yet, by columns that were these in an
    earlier file."""
    targets = NAMES_OF_OUTPUTS if kind_of(guess) in LONG else TEXTS_AND_NAMES
    taken, again = {*guess.values()}, dict[str, str]()
    for name, plain in plain_names(names).items():
        target = earlier.get(plain, "")
        is_free = guess.get(name, "metadata") == "metadata"
        if is_free and target in targets and target not in taken:
            again[name] = target
            taken.add(target)
    return again


def _criterion_of_rows(contents: Mapping[str, ColumnContent]) -> str:
    """Return the column that names the criterion of each row, by its name; empty if none does."""
    return next(
        (
            name
            for name, plain in plain_names(list(contents)).items()
            if plain in SCORES["criterion"]
            and contents[name].filled
            and not contents[name].numbers
            and 2 * len(set(contents[name].values)) <= len(contents[name].values)
        ),
        "",
    )


def _as_cells(labels: Mapping[str, bool], criterion: str) -> dict[str, str]:
    return {
        name: CellColumn(criterion, _rater_of_labels(name), by_judge=by_judge).target
        for name, by_judge in labels.items()
    }


def _rater_of_labels(name: str) -> str:
    """Return who gave labels: `human` for `human_label`, and `reference_label` as it is."""
    plain = folded(name).replace(" ", "_")
    return name if plain in LABELS_OF_PEOPLE | LABELS_OF_JUDGES else without_noise(name)


def _about_the_criterion(
    names: Sequence[str], criteria: Iterable[str], as_cells: Callable[[str], dict[str, str]]
) -> UploadQuestion:
    """Ask on which of a project's criteria some columns are, or whether on a new one.

    Args:
        as_cells: returns their meanings for a criterion.
    """
    options = dict.fromkeys([*list(criteria)[: MOST_CHOICES - 1], OVERALL])
    choices = [
        UploadAnswer(f"The criterion {name}", "ratings and scores on it", as_cells(name))
        for name in options
    ]
    none = UploadAnswer("No ratings", "outputs alone", dict.fromkeys(names, ""))
    text = f"Which criterion did {listed(names)} rate?"
    return UploadQuestion(text, (*choices, none), names_criterion=True)


def _labels_side_by_side(contents: Mapping[str, ColumnContent]) -> dict[str, bool]:
    """Return the columns of a table with people's labels beside a judge's, under their plain names,
    each with whether it is a judge's: both are ratings of one criterion, on one scale."""
    named = {name: side for name in contents if (side := side_of_labels(name)) is not None}
    replies = {
        name for name, by_judge in named.items() if by_judge and contents[name].is_of_replies
    }
    rated = [name for name in named if name not in replies and contents[name].may_be_answers]
    sides = {name: side for name, side in named.items() if name in replies or name in rated}
    kinds = {(contents[name].is_of_pair, contents[name].is_rating_like) for name in rated}
    are_apart = len({*map(_rater_of_labels, sides)}) == len(sides)
    is_clear = len({*sides.values()}) == 2 and len(kinds) == 1 and are_apart
    return (
        sides if is_clear and (kinds != {(False, False)} or _share_labels(rated, contents)) else {}
    )


def _share_labels(names: Iterable[str], contents: Mapping[str, ColumnContent]) -> bool:
    """Return whether each of several columns of words has a word that another has too, and one of
    them has several words."""
    words = [{value.lower() for value in contents[name].filled} for name in names]
    others = [set[str]().union(*words[:at], *words[at + 1 :]) for at in range(len(words))]
    are_shared = len(words) < 2 or all(
        own & other for own, other in zip(words, others, strict=True)
    )
    return are_shared and any(contents[name].is_of_labels for name in names)


def side_of_labels(name: str) -> bool | None:
    """Return whether a column's name is one of a judge's labels, or of people's; None for others.
    Several are numbered: human_1, human_2, or rater_a and rater_b."""
    whole = folded(name).replace(" ", "_")
    plain = re.sub(r"(_?\d+|_[a-z])$", "", whole)
    names = {plain, folded(without_noise(plain))}
    if names & LABELS_OF_PEOPLE or (plain != whole and names & NUMBERED_PEOPLE):
        return False
    is_judge = names & LABELS_OF_JUDGES or is_judge_like(without_noise(name))
    return True if is_judge else None


def _as_tidy(guess: Columns, contents: Mapping[str, ColumnContent]) -> dict[str, str]:
    """Return the columns of a table of ratings whose rows have the rated texts as well, under other
    names; empty if none does. A rater's remark differs between the rows of an output."""
    by_target = {target: name for name, target in guess.items()}
    output = [by_target[name] for name in ("doc_id", "system_id") if name in by_target]
    keys = list(zip(*(contents[name].values for name in output), strict=True))
    texts = [
        name
        for name, content in contents.items()
        if name not in guess
        and content.is_text
        and len(set(content.values)) < len(content.values)
        and (len(output) < 2 or decides(keys, content.values))
    ]
    if len(texts) < 2 or not {"criterion", "annotator"} & {*by_target}:
        return {}
    if "criterion" not in by_target:
        return {**guess, by_target["score"]: CellColumn(OVERALL, "").target}
    by_judge = "annotator" not in by_target and "judge" in by_target
    return {**guess, by_target["score"]: CellColumn("", "", by_judge).target}


def _are_ids(content: ColumnContent) -> bool:
    """Return whether most values are ids: without spaces, and most with a digit."""
    filled = content.filled
    ids = sum(re.fullmatch(r"(?=.*\d)[\w.:#/\-]{1,60}", value) is not None for value in filled)
    return 2 * ids > len(filled)


def _is_question(plain: str) -> bool:
    """Return whether a text is named as what was asked, such as `customer_question`, and not as an
    answer to that."""
    words = plain.split("_")
    return words[-1].endswith(QUESTIONS) and set(words).isdisjoint(NAMES["output"])


class _Reading:
    """The state of recognising the columns of one file."""

    def __init__(
        self, guess: dict[str, str], contents: dict[str, ColumnContent], project_names: KnownNames
    ) -> None:
        self.guess = guess
        self.contents = contents
        self.project_names = project_names
        self.plain = plain_names(list(contents))
        self.questions: list[UploadQuestion] = []
        self.notes: list[str] = []

    def recognition(self) -> Recognition:
        if kind_of(self.guess) in LONG:
            self._read_repeats()
            self._read_long_ratings()
        else:
            self._read_ids_of_documents()
            self._read_texts()
            self._leave_out_ids_of_others()
            self._read_repeats()
            self._read_names()
            self._read_criteria()
            self._read_raters()
            self._read_criteria()
            self._read_ratings()
            self._ask_about_repeated_rows()
            self._ask_about_words()
            self._ask_what_raters_rated()
            self._ask_about_several_outputs()
        self._ask_about_judges_among_raters()
        self._read_comments()
        self._leave_out_what_varies_within_a_document()
        return Recognition(self.guess, tuple(self.questions), tuple(self.notes))

    # Ratings

    def _read_repeats(self) -> None:
        """Read a column such as `run` as the number of a judge's score, where neither the output
        nor what people gave it differs between runs; else each run may be a system."""
        free = (name for name in self._free() if self.plain[name] in RUNS)
        name = next((name for name in free if self.contents[name].share_of_numbers == 1), "")
        raters = self._column("annotator") or self._column("judge")
        keys = self._output_keys(self._column("criterion"), raters)
        if not name or self._column("repeat") or max(Counter(keys).values(), default=0) < 2:
            return
        if score := self._column("score"):
            people = [
                (key, value)
                for key, value in zip(keys, self.contents[score].values, strict=True)
                if self.guess.get(raters) == "annotator"
                and self.project_names.kind_of(key[-1]) != NameKind.JUDGE
            ]
            is_constant = decides([key for key, _value in people], [value for _, value in people])
        else:
            is_constant = all(
                decides(keys, content.values)
                for of, content in self.contents.items()
                if side_of_labels(of) is False
            )
        if is_constant:
            self._set(name, "repeat")
        elif score and not self._column("system_id"):
            self._set(name, "system_id")

    def _read_long_ratings(self) -> None:
        """Read one rating per row. Without a column of raters, the user has to say whose they
        are; without one of criteria all are on one."""
        score, criterion = self._column("score"), self._column("criterion")
        if rater := self._column("annotator") or self._column("judge"):
            if not criterion:
                are_judges = self.guess[rater] == "judge"
                self._set(score, CellColumn(OVERALL, "", are_judges).target)
                self._ask_for_the_criterion(score, by_judge=are_judges)
            return
        if not criterion:
            return
        cells = {score: CellColumn("", "")}
        by_judge = CellColumn("", "", by_judge=True)
        most = self._rows_per_output(criterion)
        question = about_repeated_rows(cells, most) if most > 1 else None
        choices = question.choices if question else (
            UploadAnswer("By one person", "one rater, who is named under Defaults",
                   {score: cells[score].target}),
            UploadAnswer("By one judge", "a judge, who is named under Defaults",
                   {score: by_judge.target}),
        )  # fmt: skip
        text = question.text if question else f"Whose are the scores in {listed([score])}?"
        self.questions.append(UploadQuestion(text, choices))

    def _ask_for_the_criterion(self, score: str, *, by_judge: bool) -> None:
        """Ask on which criterion a project's rows with one rating each are, if it has any."""
        if criteria := self.project_names.criteria:
            self._set(score, "")
            self.questions.append(
                _about_the_criterion(
                    [score],
                    criteria,
                    lambda name: {score: CellColumn(name, "", by_judge).target},
                )
            )

    def _read_ratings(self) -> None:
        """Read criterion and rater from columns of numbers and words without a known name."""
        taken = {
            name
            for name, target in self.guess.items()
            if target not in ("metadata", "ratings")
            or name.startswith(("ratings.", "metadata."))
            or cell_of(name)
        }
        numbers = [name for name in self._numbers() if name not in taken]
        for name, target in list(self.guess.items()):
            if target == "ratings" and name not in taken and name not in numbers:
                self._set(name, "metadata")
        has_rater = bool(self._rater())
        names = [n for n in numbers if self.project_names.kind_of(n) != NameKind.UNKNOWN]
        if numbers and not has_rater and self._looks_like_a_key(numbers, names):
            numbers = []
        words = [name for name in self._words() if name not in taken]
        if self._is_tidy():
            numbers, words = [], []  # the row says which number is its rating
        named = [name for name in numbers if self._is_named_as_rating(name)]
        if has_rater and named:
            for name in numbers:
                if name not in named:
                    self._ask_whether_rated(name)
            numbers = named
        if not numbers and not words:
            return
        read = read_rating_columns(
            [*numbers, *words],
            self.project_names,
            has_rater=has_rater,
            has_criterion=bool(self._column("criterion")),
            # Words that differ between the raters of an output are about nothing else.
            words=[name for name in words if not has_rater or self._is_of_output(name)],
        )
        for name, cell in read.decided.items():
            self._set(name, cell.target if cell else "")
        for question in read.questions:
            for name in question.choices[0].columns:
                self._set(name, "")
        self.questions += read.questions

    def _numbers(self) -> list[str]:
        """Return columns of numbers on a scale; beside a rater, or with a criterion's name, also
        those with some numbers, as their other cells are errors to correct."""
        return [
            name
            for name, content in self.contents.items()
            if self.plain[name] not in COMMENTS
            and (content.is_rating_like or self._may_be_numbers(name, content))
        ]

    def _may_be_numbers(self, name: str, content: ColumnContent) -> bool:
        if content.is_text or not content.numbers or not may_be_rated(name):
            return False
        is_much = content.share_of_numbers >= MANY_NUMBERS and content.is_on_a_scale
        return self._is_named_as_rating(name) or (is_much and self._is_rated(name))

    def _is_criterion(self, name: str) -> bool:
        return self.project_names.kind_of(without_noise(name)) == NameKind.CRITERION

    def _is_rated(self, name: str) -> bool:
        """Return whether a column beside a rater varies within documents, as ratings do."""
        document = self._column("doc_id") or self._column("source")
        if not self._rater():
            return False
        return document in self.contents and not decides(
            self.contents[document].values, self.contents[name].values
        )

    def _is_of_output(self, name: str) -> bool:
        """Return whether a column has one value for each output, whoever rated it."""
        keys = self._output_keys()
        return not keys or decides(keys, self.contents[name].values)

    def _words(self) -> list[str]:
        """Return columns of words such as pass and fail that may be ratings: their names say it,
        they have several values for a document beside a rater, or there is nothing else to load.
        None where the file says which are its ratings."""
        if self._names_ratings():
            return []
        is_all = not kind_of(self.guess) and not self._numbers()
        return [
            name
            for name, content in self.contents.items()
            if (
                content.is_of_pair
                and (is_all or may_be_ratings(name, self.project_names) or self._is_rated(name))
            )
            # Other words are errors that say what to write instead.
            or (content.is_name and self._is_criterion(name) and self._is_rated(name))
        ]

    def _names_ratings(self) -> bool:
        """Return whether the file says which columns are its ratings."""
        return any(name == "ratings" or name.startswith("ratings.") for name in self.contents)

    def _is_tidy(self) -> bool:
        """Return whether each row has one rating, which is recognised."""
        return CellColumn("", "").target in self.guess.values()

    def _looks_like_a_key(self, numbers: list[str], named: list[str]) -> bool:
        """Return whether a single column of numbers without a telling name may number the rows."""
        if len(numbers) > 1 or named:
            return False
        values = self.contents[numbers[0]].values
        return decides(values, range(len(values)))

    def _rater(self) -> str:
        """Return the column of raters, or an unused one that is named like it."""
        return self._column("annotator") or self._rater_by_name()

    def _rater_by_name(self) -> str:
        """Return an unused column that has a name of raters."""
        for name, plain in self.plain.items():
            free = self.guess.get(name, "metadata") == "metadata"
            if free and plain in SCORES["annotator"] and self.contents[name].is_name:
                return name
        return ""

    # Texts

    def _read_texts(self) -> None:
        """Find the source and the output among the texts."""
        source, output = self._column("source"), self._column("output")
        texts = [
            name
            for name in self._free()
            if self.contents[name].is_text and self.plain[name] not in REMARKS
        ]
        if (source and output) or not texts:
            return
        if source or output:
            missing = "output" if source else "source"
            if len(texts) == 1:
                self._set(texts[0], missing)
            else:
                self._ask_which_text(missing, texts)
            return
        if len(texts) == 1:
            return
        order = self._source_first(texts, self._column("system_id"))
        if order and len(texts) == 2:
            self._set(order[0], "source")
            self._set(order[1], "output")
        elif order:
            self._set(order[0], "source")
            self._ask_which_text("output", order[1:])
        else:
            self._ask_which_is_the_source(texts[:2])

    def _source_first(self, texts: list[str], system: str) -> list[str]:
        """Return the texts with the source first, if it is clear: it is named as a question, it
        repeats, or it asks. In the right order a system has one output for a source; in the other,
        a repeated answer would be a source with several outputs. Questions repeat with different
        answers where each row is a ticket, so that their name counts more."""
        named = [name for name in texts if _is_question(self.plain[name])]
        if len(named) == 1:
            return [*named, *(name for name in texts if name not in named)]
        different = {name: len(set(self.contents[name].values)) for name in texts}
        by_number = sorted(texts, key=different.__getitem__)
        if different[by_number[0]] < different[by_number[1]]:
            source, output, *others = by_number
            if self._is_written_from(output, source, system):
                return by_number
            if self._is_written_from(source, output, system):
                return [output, source, *others]
            return []
        marked = [name for name in texts if self.contents[name].asks]
        if len(marked) == 1:
            return [*marked, *(name for name in texts if name != marked[0])]
        return []

    def _is_written_from(self, output: str, source: str, system: str) -> bool:
        """Return whether each system has one text in `output` for each text in `source`."""
        sources, outputs = self.contents[source].values, self.contents[output].values
        if system in self.contents:
            return decides(list(zip(sources, self.contents[system].values, strict=True)), outputs)
        return decides(sources, outputs) or any(
            self._names_systems(name, source, output) for name in self._free_names()
        )

    def _ask_which_text(self, missing: str, texts: list[str]) -> None:
        what = "output" if missing == "output" else "source text"
        self.questions.append(
            UploadQuestion(
                f"Which column is the {what}?",
                tuple(
                    UploadAnswer(f"“{name}”", f"such as “{self._example(name)}”", {name: missing})
                    for name in texts[:MOST_CHOICES]
                ),
            )
        )
        for name in texts:
            self._set(name, "")

    def _ask_which_is_the_source(self, texts: list[str]) -> None:
        text, other = texts
        self.questions.append(
            UploadQuestion(
                f"Which was written from which, {listed([text])} or {listed([other])}?",
                tuple(
                    UploadAnswer(
                        f"“{b}” was written from “{a}”",
                        f"source “{self._example(a)}”, output “{self._example(b)}”",
                        {a: "source", b: "output"},
                    )
                    for a, b in ((text, other), (other, text))
                ),
            )
        )
        for name in texts:
            self._set(name, "")

    def _example(self, name: str) -> str:
        return shortened(next(iter(self.contents[name].filled), ""), 60)

    # Names

    def _read_ids_of_documents(self) -> None:
        """Read a column named like a source as the documents' names, if it has names and another
        column has texts to write from."""
        source = self._column("source")
        content = self.contents.get(source)
        texts = [name for name in self._free() if self.contents[name].is_text]
        if content is None or self._column("doc_id") or not texts or not _are_ids(content):
            return
        if len(texts) > 1 or self._column("output"):
            self._set(source, "doc_id")

    def _leave_out_ids_of_others(self) -> None:
        """Ignore ids that name something else than documents: one of them has several sources. A
        column `doc_id` is meant, so that this is an error of the file."""
        name, source = self._column("doc_id"), self._column("source")
        if name in ("", *OUR_IDS) or source not in self.contents or name not in self.contents:
            return
        if not decides(self.contents[name].values, self.contents[source].values):
            self._set(name, "")

    def _read_names(self) -> None:
        """Find the short columns that name the document and the system."""
        text, output = self._column("source"), self._column("output")
        sources = self.contents[text].values if text in self.contents else ()
        if not self._column("doc_id") and len(set(sources)) > 1:
            for name in self._free_names():
                values = self.contents[name].values
                is_remark = self.plain[name] in REMARKS
                if not is_remark and decides(values, sources) and decides(sources, values):
                    self._set(name, "doc_id")
                    break
            else:
                self._read_ids_of_rows(text, output)
                self._note_names_of_several_texts(text)
        document = self._column("doc_id") or text
        if document not in self.contents or self._column("system_id"):
            return
        candidates = [
            name for name in self._free_names() if self._names_systems(name, document, output)
        ]
        if len(candidates) == 1:
            self._set(candidates[0], "system_id")
        elif len(candidates) > 1:
            choices = tuple(
                UploadAnswer(f"“{name}”", f"systems {listed(self.contents[name].filled)}",
                       {name: "system_id"})
                for name in candidates[:MOST_CHOICES]
            )  # fmt: skip
            self.questions.append(UploadQuestion("Which column names the system?", choices))

    def _read_ids_of_rows(self, source: str, output: str) -> None:
        """Read ids as the documents' names where a source repeats with different outputs, and no
        system tells these apart: each is a document of its own, such as a ticket."""
        free = self._free_names()
        if self._column("system_id") or output not in self.contents:
            return
        sources, outputs = self.contents[source].values, self.contents[output].values
        pairs = list(zip(sources, outputs, strict=True))
        ids = [
            name
            for name in free
            if _are_ids(self.contents[name]) and decides(self.contents[name].values, pairs)
        ]
        others = (name for name in free if name not in ids)
        is_clear = len(ids) == 1 and not decides(sources, outputs)
        if is_clear and not any(self._names_systems(name, source, output) for name in others):
            self._set(ids[0], "doc_id")

    def _note_names_of_several_texts(self, source: str) -> None:
        """Note that documents are named by their texts, although a column is named as if it named
        them: one of its names has several texts."""
        for name, plain in self.plain.items():
            is_free = self.guess.get(name, "metadata") == "metadata"
            if self._column("doc_id") or plain not in IDS or not is_free:
                continue
            texts: dict[str, set[str]] = {}
            for of, text in self._values([name, source]):
                texts.setdefault(of, set()).add(text)
            counts = ((of, len(texts[of])) for of in texts if of)
            of, most = max(counts, key=itemgetter(1), default=("", 0))
            if most > 1:
                self.notes.append(
                    f"“{name}” does not name the documents: “{shortened(of, 40)}” has {most}"
                    f" different texts. So {len(set(self.contents[source].values)):,} texts are"
                    " documents of their own, as far as rows were looked at. To change this, choose"
                    f" “{name}” as the document's name."
                )

    def _names_systems(self, name: str, document: str, output: str) -> bool:
        """Return whether its few names distinguish the outputs of a document."""
        values, documents = self.contents[name].values, self.contents[document].values
        if self.contents[name].is_rating_like:
            return False
        if "" in values or len(set(values)) > max(1, len(values) // 2) or len(values) < 2:
            return False
        pairs = list(zip(documents, values, strict=True))
        if output in self.contents:
            outputs = self.contents[output].values
            return decides(pairs, outputs) and not decides(documents, outputs)
        return len(set(pairs)) == len(pairs) and not decides(documents, values)

    # Raters

    def _read_criteria(self) -> None:
        """Find the column that names the criterion, if an output has a row for each, and the only
        column of numbers: by its name or its values, or because nothing else tells a rater's
        ratings of an output apart."""
        free = (None, "metadata", "ratings")
        numbers = [name for name in self._numbers() if self.guess.get(name) in free]
        rater = self._column("annotator")
        if self._column("criterion") or len(numbers) != 1:
            return
        has_several = self._rows_per_output(rater) > 1
        for name in self._free_names():
            values = set(self.contents[name].filled)
            criteria = sum(map(self._is_criterion, values))
            is_named = self.plain[name] in SCORES["criterion"] and not self.contents[name].numbers
            if is_named or (has_several and 2 * criteria >= len(values)):
                self._set_criterion(name, numbers[0])
                return
        if not has_several:
            return
        names = [
            name
            for name in self._free_names()
            if rater and self._distinguishes_ratings(name, rater)
        ]
        if len(names) == 1:
            self._set_criterion(names[0], numbers[0])

    def _set_criterion(self, name: str, numbers: str) -> None:
        self._set(name, "criterion")
        self._set(numbers, CellColumn("", "").target)

    def _distinguishes_ratings(self, name: str, rater: str) -> bool:
        """Return whether its few names tell a rater's ratings of an output apart."""
        values = self.contents[name].values
        return 2 * len(set(values)) <= len(values) and self._rows_per_output(rater, name) == 1

    def _read_raters(self) -> None:
        """Find the column that names the rater, if an output has several rows."""
        if self._column("annotator") or self._column("judge"):
            return
        if not self._numbers() and not self._words():
            return
        if name := self._rater_by_name():
            self._set(name, "annotator")
            return
        if self._rows_per_output() < 2:
            return
        for name in self._free_names():
            if self.contents[name].is_of_pair:
                continue
            keys = self._output_keys(self._column("criterion"))
            outputs = list(zip(keys, self.contents[name].values, strict=True))
            count = sum(
                self.project_names.kind_of(value) in (NameKind.PERSON, NameKind.JUDGE)
                for value in set(self.contents[name].values)
            )
            if "" not in self.contents[name].values and count and len(set(outputs)) == len(outputs):
                self._set(name, "annotator")
                return

    def _read_comments(self) -> None:
        """Read a column of comments next to a rater's name as that rater's comments."""
        name = next((name for name in self.contents if self.plain[name] in COMMENTS), "")
        if name and self._column("annotator") and self.guess.get(name) in (None, "metadata"):
            self._set(name, "comment")

    def _ask_about_repeated_rows(self) -> None:
        cells = self._cells_without_rater()
        most = self._rows_per_output(self._column("criterion"))
        if cells and most > 1 and not self._column("annotator") and not self._column("judge"):
            self.questions.append(about_repeated_rows(cells, most))

    def _ask_about_several_outputs(self) -> None:
        """Ask what different outputs of a text are, if no column tells them apart."""
        document, output = self._column("doc_id") or self._column("source"), self._column("output")
        if self._column("system_id") or not {document, output} <= {*self.contents}:
            return
        if self._asks_for("system_id") or self.contents[document].may_be_cut:
            return
        outputs = Counter(of for of, _output in {*self._values([document, output])})
        if (most := max(outputs.values(), default=0)) > 1:
            self.questions.append(about_several_outputs(output, most))

    def _ask_what_raters_rated(self) -> None:
        """Ask about columns beside a rater in which some cells are numbers; and which column has
        the ratings of named raters, if none was recognised."""
        rater = self._rater()
        for name in self._free() if rater and not self._is_tidy() else ():
            content = self.contents[name]
            if (
                content.share_of_numbers > 0
                and name != rater
                and self.plain[name] not in COMMENTS
                and may_be_rated(name)
                and not (content.is_text or content.counts_rows)
                and self._is_rated(name)
            ):
                self._ask_whether_rated(name)
        cells = [name for name, target in self.guess.items() if cell_column(name, target)]
        rated = [name for name in self._free() if name != rater and self._is_rated(name)]
        if not rater or cells or self.questions or not rated:
            return
        choices = [
            UploadAnswer(
                f"“{name}”",
                f"ratings such as “{self._example(name)}”",
                {rater: "annotator", name: CellColumn(without_noise(name), "").target},
            )
            for name in rated[:MOST_CHOICES]
        ]
        left_out = dict.fromkeys([rater, *rated[:MOST_CHOICES]], "")
        choices.append(UploadAnswer("There are no ratings", "these columns are ignored", left_out))
        text = f"“{rater}” names raters. Which column has their ratings?"
        self.questions.append(UploadQuestion(text, tuple(choices)))

    def _ask_about_words(self) -> None:
        """Ask about columns that are named like ratings and have other words than numbers."""
        if self._names_ratings():
            return
        rater = self._rater()
        for name in self._free():
            content = self.contents[name]
            is_named = name != rater and may_be_ratings(name, self.project_names)
            is_word = content.is_name and not content.is_text and not content.numbers
            if is_named and is_word and self.plain[name] not in COMMENTS:
                self._ask_whether_rated(name)

    def _ask_whether_rated(self, name: str) -> None:
        """Ask about a column that may contain ratings."""
        examples = listed(self.contents[name].filled)
        choices = (
            UploadAnswer(
                "Ratings",
                "cells without a number are errors, to be corrected or left out",
                {name: CellColumn(without_noise(name), "").target},
            ),
            UploadAnswer("No ratings", "kept as metadata of the documents", {name: "metadata"}),
        )
        self.questions.append(
            UploadQuestion(f"Does “{name}” contain ratings, such as {examples}?", choices)
        )
        self._set(name, "")

    def _ask_about_judges_among_raters(self) -> None:
        """Ask whether names such as gpt-4o in a column of raters are judges or people."""
        name = self._column("annotator")
        if not name or name not in self.contents:
            return
        raters = dict.fromkeys(self.contents[name].filled)
        judges = [rater for rater in raters if self.project_names.kind_of(rater) == NameKind.JUDGE]
        if not judges:
            return
        verb = "is a judge" if len(judges) == 1 else "are judges"
        person = "is a person" if len(judges) == 1 else "are people"
        self.questions.append(
            UploadQuestion(
                f"Among the raters in “{name}” are {listed(judges)}. Who are they?",
                (
                    UploadAnswer(f"{listed(judges)} {verb}", "scores; the other rows are ratings",
                           {name: people_and_judges(judges)}),
                    UploadAnswer(f"{listed(judges)} {person}", "ratings by people in all rows",
                           {name: "annotator"}),
                ),
            )
        )  # fmt: skip

    def _leave_out_what_varies_within_a_document(self) -> None:
        """Ignore metadata columns that vary within a document. Metadata belongs to a document and
        has one value in it; what differs between its rows, or is missing in some, is about the
        outputs, or a rater's comment."""
        document = self._column("doc_id") or self._column("source")
        if document not in self.contents:
            return
        documents = self.contents[document].values
        for name, target in list(self.guess.items()):
            varies = name in self.contents and not decides(documents, self.contents[name].values)
            if target == "metadata" and varies:
                self._set(name, "")

    # The state so far

    def _column(self, target: str) -> str:
        return next((name for name, role in self.guess.items() if role == target), "")

    def _set(self, name: str, target: str) -> None:
        if target:
            self.guess[name] = target
        else:
            self.guess.pop(name, None)

    def _asks_for(self, target: str) -> bool:
        choices = [choice for question in self.questions for choice in question.choices]
        return any(target in choice.columns.values() for choice in choices)

    def _unclear(self) -> set[str]:
        return {n for question in self.questions for c in question.choices for n in c.columns}

    def _free(self) -> list[str]:
        """Return columns that have no meaning yet, or are metadata only by default."""
        unclear = self._unclear()
        return [
            name
            for name in self.contents
            if self.guess.get(name, "metadata") == "metadata"
            and not name.startswith("metadata.")
            and name not in unclear
        ]

    def _free_names(self) -> list[str]:
        """Return short columns whose names do not suggest ratings by people or judges."""
        return [
            name
            for name in self._free()
            if self.contents[name].is_name
            and not (self.contents[name].is_rating_like and self._is_named_as_rating(name))
            and not may_be_ratings(name, self.project_names)
        ]

    def _is_named_as_rating(self, name: str) -> bool:
        return bool(read_rating_columns([name], self.project_names).decided) or bool(
            self.project_names.kind_of(name)
        )

    def _cells_without_rater(self) -> dict[str, CellColumn]:
        cells = {name: cell_column(name, target) for name, target in self.guess.items()}
        return {
            name: cell
            for name, cell in cells.items()
            if cell and not cell.rater and not cell.by_judge
        }

    def _values(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        return list(zip(*(self.contents[name].values for name in names), strict=True))

    def _output_keys(self, *more: str) -> list[tuple[str, ...]]:
        """Return for each row of the sample what identifies its output."""
        document = self._column("doc_id") or self._column("source")
        system = self._column("system_id")
        names = [name for name in (document, system, *more) if name in self.contents]
        if not system and (output := self._column("output")) in self.contents:
            names.append(output)
        return self._values(names) if document in self.contents else []

    def _rows_per_output(self, *more: str) -> int:
        return max(Counter(self._output_keys(*more)).values(), default=0)
