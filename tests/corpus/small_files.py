"""Small files as people and programs write them, each with what is right. The rows of the reading
contract (docs/data-format.md) are their `row`s."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.workbooks import Cell, Xml, xlsx

KEY = ("doc_id", "system_id", "source", "output")
SOURCES = ("When does ferry {} leave today?", "ferry {} leaves the harbour at seven.")


@dataclass(frozen=True)
class SmallFile:
    """Files of one load, and what is right: `reads` are counts by kind (only these), `ratings` how
    often each number was read, `scale` that of the only criterion, `notes` and `unused` phrases,
    `asks` a phrase of the question, `errors` places (line, column, phrase)."""

    row: str
    name: str
    files: Mapping[str, str | bytes]
    reads: Mapping[str, int] = field(default_factory=dict)
    ratings: Mapping[float, int] | None = None
    scale: str = ""
    raters: tuple[str, ...] | None = None
    criteria: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    asks: str = ""
    errors: tuple[tuple[int, str, str], ...] = ()

    def __str__(self) -> str:
        return self.name


def texts(count: int = 4, systems: tuple[str, ...] = ("a", "b")) -> list[dict[str, Any]]:
    """Outputs of systems for some documents."""
    return [
        {
            "doc_id": f"d{n}",
            "system_id": system,
            "source": SOURCES[0].format(n),
            "output": f"{system} says that {SOURCES[1].format(n)}",
        }
        for n in range(count)
        for system in systems
    ]


def jsonl(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def table(rows: list[dict[str, Any]], mark: str = ",") -> str:
    """A CSV without quotes: no value may have the mark."""
    lines = [mark.join(rows[0])] + [mark.join(str(v) for v in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


def rated(cells: list[Any], column: str = "score", **more: Any) -> list[dict[str, Any]]:
    """A row for each cell: ratings of the outputs in turn."""
    return [
        {**{name: text[name] for name in KEY[:2]}, "criterion": "quality", "annotator": "ann"}
        | more
        | {column: cell}
        for text, cell in zip(texts(len(cells)), cells, strict=False)
    ]


def wide(
    cells: list[Any], column: str = "quality", rater: str = "annotator"
) -> list[dict[str, Any]]:
    """A row for each cell: an output with its rating."""
    return [
        text | {rater: "ann", column: cell}
        for text, cell in zip(texts(len(cells)), cells, strict=False)
    ]


def zipped(files: Mapping[str, str]) -> bytes:
    """A zip as file managers write it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


OUTPUTS = {"outputs.jsonl": jsonl(texts())}
EIGHT = {"documents": 4, "outputs": 8}


def long_table(cells: list[Any], **right: Any) -> dict[str, Any]:
    """Outputs, and a long table of eight ratings."""
    count = sum(right["ratings"].values()) if right.get("ratings") else 0
    reads = {} if right.get("errors") or right.get("asks") else EIGHT | {"ratings": count}
    return {"files": OUTPUTS | {"ratings.csv": table(rated(cells), ";")}, "reads": reads, **right}


CELLS = [4, 3, 5, 2, 4, 1, 3, 4]
COUNTS = {4: 3, 3: 2, 5: 1, 2: 1, 1: 1}


def cells_like(form: str) -> list[str]:
    return [form.format(cell) for cell in CELLS]


def _forms_of_cells() -> list[SmallFile]:
    """One number in many spellings: each is read as the number."""
    forms = {
        "plain": "{}",
        "in a list": "[{}]",
        "a text in a list": '["{}"]',
        "Python's list": "['{}']",
        "Excel's apostrophe": "'{}",
        "with its name": "{} - good",
        "with a colon": "{}: fine",
        "in brackets": "{} (all right)",
        "its name first": "good ({})",
        "out of five": "{}/5",
        "out of five in words": "{} out of 5",
        "von fünf": "{} von 5",
        "with spaces": "  {} ",
        "with a decimal": "{}.0",
        "with a decimal comma": "{},0",
        "with a plus": "+{}",
        "an object of Label Studio": '[{{"rating": {}}}]',
        "a choice": '{{"choices": ["{} - ok"]}}',
    }
    return [
        SmallFile(
            "spelled numbers", f"ratings {name}", **long_table(cells_like(form), ratings=COUNTS)
        )
        for name, form in forms.items()
    ]


def _missing_cells() -> list[SmallFile]:
    words = (
        "nan",
        "NaN",
        "None",
        "null",
        "<NA>",
        "N/A",
        "n/a",
        "NA",
        "#N/A",
        "-",
        "–",
        "",
        ".",
        "nil",
        "k.A.",
    )
    return [
        SmallFile(
            "missing ratings",
            f"a cell of “{word}”",
            **long_table([word, *CELLS[1:]], ratings={4: 2, 3: 2, 5: 1, 2: 1, 1: 1}),
        )
        for word in words
    ]


def _odd_cells() -> list[SmallFile]:
    """One odd cell is an error at its line, in a long table and beside an output."""
    odd = {
        "a date by Excel": "04.Mai",
        "a date": "2026-05-04",
        "a range": "3-4",
        "a remark": "see below",
        "a bound": ">4",
        "infinity": "inf",
        "two numbers": "3 or 4",
        "more than the highest": "4/3",
    }
    long = [
        SmallFile(
            "odd cells",
            f"{name} among ratings",
            **long_table([cell, *CELLS[1:]], errors=((2, "score", "expected a number"),)),
        )
        for name, cell in odd.items()
    ]
    beside = [
        SmallFile(
            "odd cells",
            f"{name} beside an output",
            {"t.csv": table(wide([*CELLS[:3], cell, cell, *CELLS[5:]]), ";")},
            errors=((5, "quality", "expected a number"), (6, "quality", "expected a number")),
        )
        for name, cell in odd.items()
    ]
    return [*long, *beside]


def _columns_beside_raters() -> list[SmallFile]:
    likert = ["Agree", "Disagree", "Neutral", "Agree", "Agree", "Neutral", "Disagree", "Agree"]
    mixed = ["4", "see", "later", "later", "see", "3", "no", "ok"]
    return [
        SmallFile(
            "columns beside a rater",
            "words on a criterion's name",
            {"t.csv": table(wide(likert, "clarity"))},
            errors=((2, "clarity", "expected a number"),),
        ),
        SmallFile(
            "columns beside a rater",
            "words under another name",
            {"t.csv": table(wide(likert, "Q1"))},
            asks="names raters",
        ),
        SmallFile(
            "columns beside a rater",
            "few numbers on a criterion's name",
            {"t.csv": table(wide(mixed, "fluency"))},
            errors=((3, "fluency", "expected a number"),),
        ),
        SmallFile(
            "columns beside a rater",
            "half of it numbers",
            {"t.csv": table(wide([4, "x", 3, "y", 2, "z", 5, 1], "Q1"))},
            errors=((3, "Q1", "expected a number"),),
        ),
        SmallFile(
            "columns beside a rater",
            "few numbers under another name",
            {"t.csv": table([row | {"Q2": q} for row, q in zip(wide(CELLS), mixed, strict=True)])},
            asks="Does “Q2” contain ratings",
        ),
        SmallFile(
            "columns beside a rater",
            "words on a criterion's name beside ratings",
            {
                "t.csv": table(
                    [r | {"fluency": w} for r, w in zip(wide(CELLS), likert, strict=True)]
                )
            },
            errors=((2, "fluency", "expected a number"),),
        ),
        SmallFile(
            "columns beside a rater",
            "a standard deviation and a confidence",
            {
                "t.csv": table(
                    [
                        r | {"quality_sd": 1, "confidence": 2 + n % 3}
                        for n, r in enumerate(wide(CELLS))
                    ]
                )
            },
            EIGHT | {"ratings": 8},
            COUNTS,
        ),
        SmallFile(
            "columns beside a rater",
            "a rater without ratings",
            {
                "t.csv": table(
                    [
                        t | {"annotator": "ann", "mood": f"{'abcd'[n % 4]}."}
                        for n, t in enumerate(texts())
                    ]
                )
            },
            asks="names raters",
        ),
        SmallFile(
            "columns beside a rater",
            "ratings and a duration",
            {"t.csv": table([w | {"seconds": 10 + n} for n, w in enumerate(wide(CELLS))])},
            EIGHT | {"ratings": 8},
            COUNTS,
            unused=("seconds",),
        ),
        SmallFile(
            "columns beside a rater",
            "numbers without a rater on a criterion's name",
            {
                "t.csv": table(
                    [
                        t | {"fluency": c}
                        for t, c in zip(texts(), [4, "x", 3, 2, 5, 1, 2, 3], strict=True)
                    ]
                )
            },
            errors=((3, "fluency", "expected a number"),),
        ),
    ]


def _tidy() -> list[SmallFile]:
    rows = [
        t | {"criterion": criterion, "annotator": who, "score": 1 + (n + k + j) % 5}
        for n, t in enumerate(texts())
        for k, criterion in enumerate(("coherence", "fluency"))
        for j, who in enumerate(("ann", "ben"))
    ]

    def named(names: Mapping[str, str], drop: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        return [{names.get(k, k): v for k, v in row.items() if k not in drop} for row in rows]

    german = {
        "doc_id": "Dokument",
        "system_id": "Modell",
        "source": "Text",
        "output": "Zusammenfassung",
        "criterion": "Kriterium",
        "annotator": "Bewerter",
        "score": "Note",
    }
    whole = EIGHT | {"ratings": 32}
    return [
        SmallFile("one row, one rating", "with our names", {"t.csv": table(rows)}, whole),
        SmallFile("one row, one rating", "as JSON Lines", {"t.jsonl": jsonl(rows)}, whole),
        SmallFile(
            "one row, one rating",
            "with another column of numbers",
            {"t.csv": table([row | {"fluent": 1 + n % 3} for n, row in enumerate(rows)])},
            whole,
        ),
        SmallFile(
            "one row, one rating", "with German names", {"t.csv": table(named(german))}, whole
        ),
        SmallFile(
            "one row, one rating",
            "with criteria that nobody knows",
            {
                "t.csv": table(
                    [
                        {k: v for k, v in row.items() if k not in ("criterion", "score")}
                        | {"Tonalität": f"T{row['criterion'][0]}", "Punkte": row["score"]}
                        for row in rows
                    ]
                )
            },
            whole,
        ),
        SmallFile(
            "one row, one rating",
            "with names of chats",
            {
                "t.csv": table(
                    named(
                        {
                            "source": "prompt",
                            "output": "response",
                            "score": "rating",
                            "system_id": "model",
                        }
                    )
                )
            },
            whole,
        ),
        SmallFile(
            "one row, one rating",
            "without names of documents",
            {"t.csv": table(named({"source": "prompt", "output": "response"}, ("doc_id",)))},
            whole,
        ),
        SmallFile(
            "one row, one rating",
            "of judges",
            {
                "t.csv": table(
                    [
                        {
                            **{k: v for k, v in row.items() if k != "annotator"},
                            "judge": "gpt-4o" if row["annotator"] == "ann" else "llama",
                        }
                        for row in rows
                    ]
                )
            },
            EIGHT | {"scores": 32},
        ),
        SmallFile(
            "one row, one rating",
            "with texts under other names",
            {"t.csv": table(named({"source": "Frage", "output": "Antwort"}))},
            whole,
        ),
        SmallFile(
            "one row, one rating",
            "without a rater",
            {
                "t.csv": table(
                    [
                        {k: v for k, v in row.items() if k != "annotator"}
                        for row in rows
                        if row["annotator"] == "ann"
                    ]
                )
            },
            EIGHT | {"ratings": 16},
        ),
    ]


def _readings() -> list[SmallFile]:
    """Which text was written from which, and what names a document."""
    repeated = [
        {
            "frage": SOURCES[0].format(n),
            "antwort": "I do not know that I am sorry."
            if n % 3
            else f"It is {SOURCES[1].format(n)}",
        }
        for n in range(12)
    ]
    ids = [
        {
            "Document": t["doc_id"],
            "system": t["system_id"],
            "Quelle": t["source"],
            "output": t["output"],
        }
        for t in texts()
    ]
    return [
        SmallFile(
            "source and output",
            "answers that repeat",
            {"t.csv": table(repeated)},
            {"documents": 12, "outputs": 12},
        ),
        SmallFile(
            "source and output",
            "answers that repeat, with a model",
            {"t.csv": table([row | {"model": "m"} for row in repeated])},
            {"documents": 12, "outputs": 12},
        ),
        SmallFile("source and output", "ids in a column Document", {"t.csv": table(ids)}, EIGHT),
        SmallFile(
            "source and output",
            "ids of batches",
            {
                "t.csv": table(
                    [
                        {"id": n // 4, "question": t["source"], "answer": t["output"]}
                        | {"model": t["system_id"]}
                        for n, t in enumerate(texts())
                    ]
                )
            },
            EIGHT,
        ),
        SmallFile(
            "source and output",
            "sources that differ by white space",
            {
                "t.jsonl": jsonl(
                    [t | {"source": t["source"] + " " * (t["system_id"] == "b")} for t in texts()]
                )
            },
            EIGHT,
            notes=("white space alone",),
        ),
        SmallFile(
            "source and output",
            "sources that differ",
            {
                "t.jsonl": jsonl(
                    [t | {"source": t["source"] + "X" * (t["system_id"] == "b")} for t in texts(1)]
                )
            },
            errors=((2, "source", "a different source"),),
        ),
        SmallFile(
            "source and output",
            "references in later rows",
            {
                "t.jsonl": jsonl(
                    [t | ({"references": ["r"]} if t["system_id"] == "b" else {}) for t in texts()]
                )
            },
            EIGHT,
        ),
    ]


def _scales() -> list[SmallFile]:
    def one(
        name: str, cells: list[Any], scale: str, criterion: str = "quality", **right: Any
    ) -> SmallFile:
        rows = rated(cells, criterion=criterion)
        reads = (
            {}
            if right.get("errors")
            else {
                "documents": len({r["doc_id"] for r in rows}),
                "outputs": len(cells),
                "ratings": len(cells),
            }
        )
        files = {"o.jsonl": jsonl(texts(len(cells))[: len(cells)]), "r.csv": table(rows)}
        return SmallFile("scales", name, files, reads, scale=scale, **right)

    return [
        one("few ratings from 2 to 4", [3, 4, 3, 4, 2, 3], "1-5"),
        one("few ratings from 2 to 4 on coherence", [3, 4, 3, 4, 2, 3], "1-5", "coherence"),
        one("few ratings from 1 to 3 on naturalness", [1, 3, 2, 3, 2, 3], "1-3", "naturalness"),
        one("few ratings of 1 and 0", [1, 0, 0, 1], "0-1"),
        one("many ratings from 1 to 4", [1, 2, 3, 4] * 6, "1-4"),
        one("many ratings from 2 to 4", [2, 3, 4] * 8, "1-5"),
        one("ratings from 0 to 10", [0, 10, 7, 3, 8, 9], "0-10"),
        one("ratings around 0", [-2, -1, 0, 1, 2, 2], "-2-2"),
        one("out of ten", ["4/10", "3/10", "7/10", "2/10"], "1-10"),
        one(
            "-1 apart",
            [-1, 2, 3, 4, 5, 1, 2, -1],
            "",
            errors=((2, "score", "off 1-5"), (9, "score", "off 1-5")),
        ),
        one("-9 apart", [-9, 2, 3, 4, 5, 1, 2, 3], "", errors=((2, "score", "off 1-5"),)),
        one(
            "-99 apart",
            [-99, 2, 3, 4, 5, 1, 2, -99],
            "",
            errors=((2, "score", "off 1-5"), (9, "score", "off 1-5")),
        ),
        one(
            "99 often",
            [99, 2, 3, 4, 99, 1, 2, 5],
            "",
            errors=((2, "score", "off 1-5"), (6, "score", "off 1-5")),
        ),
        one("9 among 1 to 5", [9, 2, 3, 4, 5, 1, 2, 3], "", errors=((2, "score", "off 1-5"),)),
        one(
            "two scales stated",
            ["4/5", "7/10", "3/5", "2/5"],
            "",
            errors=((3, "score", "another scale"),),
        ),
        one(
            "a thousand",
            ["1.000", 500, 750, "1.250", 900],
            "",
            errors=((2, "score", "may be a thousand"), (5, "score", "may be a thousand")),
        ),
        one("three decimals without hundreds", ["1.125", "2.250", "3.500", "4.125"], "1-5"),
    ]


def _encodings() -> list[SmallFile]:
    records = texts()
    one_object = {name: {str(n): r[name] for n, r in enumerate(records)} for name in KEY}
    split = {
        "columns": list(KEY),
        "index": list(range(8)),
        "data": [[r[k] for k in KEY] for r in records],
    }
    schema = {"schema": {"fields": []}, "data": [{"index": n} | r for n, r in enumerate(records)]}
    lists = {name: [r[name] for r in records] for name in KEY}
    by_row = {str(n): r for n, r in enumerate(records)}
    nan = jsonl(
        [
            t | {"quality": float("nan") if n == 0 else 3, "annotator": "ann"}
            for n, t in enumerate(records)
        ]
    )
    half = jsonl([records[0]]).replace("today", "\\ud83d today").replace("seven", "\\u0000seven")
    return [
        SmallFile(
            "JSON",
            "pretty-printed objects",
            {"t.json": "\n".join(json.dumps(r, indent=2) for r in records)},
            EIGHT,
        ),
        SmallFile(
            "JSON",
            "one pretty-printed object",
            {"t.json": json.dumps(records[0], indent=2)},
            {"documents": 1, "outputs": 1},
        ),
        SmallFile(
            "JSON", "objects on one line", {"t.json": "".join(map(json.dumps, records))}, EIGHT
        ),
        SmallFile(
            "JSON", "objects with commas", {"t.json": ",\n".join(map(json.dumps, records))}, EIGHT
        ),
        SmallFile("JSON", "a list", {"t.json": json.dumps(records)}, EIGHT),
        SmallFile("JSON", "pandas by columns", {"t.json": json.dumps(one_object)}, EIGHT),
        SmallFile("JSON", "pandas by rows", {"t.json": json.dumps(by_row)}, EIGHT),
        SmallFile("JSON", "pandas split", {"t.json": json.dumps(split)}, EIGHT),
        SmallFile("JSON", "pandas with a schema", {"t.json": json.dumps(schema)}, EIGHT),
        SmallFile("JSON", "a list for each column", {"t.json": json.dumps(lists)}, EIGHT),
        SmallFile(
            "JSON", "NaN", {"t.jsonl": nan}, EIGHT | {"ratings": 7}, unused=("NaN (no value)",)
        ),
        SmallFile(
            "JSON",
            "Infinity",
            {"t.jsonl": nan.replace("NaN", "Infinity")},
            errors=((1, "quality", "expected a number"),),
        ),
        SmallFile(
            "JSON",
            "half an emoji and a NUL",
            {"t.jsonl": half},
            {"documents": 1, "outputs": 1},
            unused=("cannot be stored",),
        ),
        SmallFile(
            "JSON",
            "outputs that are numbers",
            {"t.jsonl": jsonl([t | {"output": n} for n, t in enumerate(records)])},
            EIGHT,
        ),
        SmallFile(
            "JSON",
            "references that are numbers",
            {"t.jsonl": jsonl([t | {"references": [4]} for t in records])},
            EIGHT,
        ),
        SmallFile(
            "JSON",
            "a broken line",
            {"t.jsonl": jsonl(records[:1]) + "{broken}\n"},
            errors=((2, "", "not JSON"),),
        ),
        SmallFile("tables", "semicolons", {"t.csv": table(records, ";")}, EIGHT),
        SmallFile("tables", "tabs", {"t.tsv": table(records, "\t")}, EIGHT),
        SmallFile("tables", "bars", {"t.csv": table(records, "|")}, EIGHT),
        SmallFile("tables", "a line sep=;", {"t.csv": "sep=;\n" + table(records, ";")}, EIGHT),
        SmallFile("tables", "a line sep=,", {"t.csv": "sep=,\n" + table(records)}, EIGHT),
        SmallFile(
            "tables",
            "a zip of a Mac",
            {"t.zip": zipped({"t.csv": table(records), "__MACOSX/._t.csv": "x", ".DS_Store": "x"})},
            EIGHT,
        ),
        SmallFile("tables", "UTF-16", {"t.txt": table(records, "\t").encode("utf-16")}, EIGHT),
        SmallFile("tables", "a byte order mark", {"t.csv": "\ufeff" + table(records)}, EIGHT),
        SmallFile("tables", "CRLF", {"t.csv": table(records).replace("\n", "\r\n")}, EIGHT),
        SmallFile(
            "tables", "empty rows", {"t.csv": table(records).replace("\n", "\n,,,\n")}, EIGHT
        ),
        SmallFile(
            "refused files",
            "a header alone",
            {"t.csv": ",".join(KEY) + "\n"},
            errors=((1, "", "a header and no rows"),),
        ),
        SmallFile("refused files", "nothing", {"t.csv": ""}, errors=((0, "", "empty"),)),
        SmallFile("refused files", "an empty list", {"t.json": "[]"}, errors=((0, "", "empty"),)),
        SmallFile(
            "refused files",
            "ratings that are all missing",
            OUTPUTS | {"r.csv": table(rated(["NA"] * 4))},
            errors=((0, "", "nothing was read"),),
        ),
        SmallFile(
            "refused files",
            "HTML",
            {"t.xls": "<html><table><tr><td>doc_id</td></tr></table></html>"},
            errors=((0, "", "HTML or XML"),),
        ),
        SmallFile(
            "refused files",
            "XML",
            {"t.xls": '<?xml version="1.0"?><Workbook/>'},
            errors=((0, "", "HTML or XML"),),
        ),
        SmallFile(
            "refused files",
            "an old workbook",
            {"t.xls": b"\xd0\xcf\x11\xe0" + bytes(512)},
            errors=((0, "", ".xls"),),
        ),
        SmallFile(
            "texts that were cut",
            "a source at a cell's limit",
            {"t.jsonl": jsonl([t | {"source": "x" * 32_767} for t in texts(1)])},
            {"documents": 1, "outputs": 2},
            notes=("2 texts have exactly 32,767",),
        ),
        SmallFile(
            "texts that were cut",
            "a source below a cell's limit",
            {"t.jsonl": jsonl([t | {"source": "x" * 32_766} for t in texts(1)])},
            {"documents": 1, "outputs": 2},
            notes=(),
        ),
    ]


def _names() -> list[SmallFile]:
    def by(names: list[str], **right: Any) -> SmallFile:
        rows = [row | {"annotator": name} for row, name in zip(rated(CELLS), names, strict=True)]
        return SmallFile(
            files=OUTPUTS | {"r.csv": table(rows)},
            reads=EIGHT | {"ratings": 8},
            row="names",
            **right,
        )

    return [
        by(
            ["Anna", "anna"] * 4,
            name="capitals",
            raters=("Anna", "anna"),
            notes=("differ by capitals alone",),
        ),
        by(
            ["Anna", "An\u200bna", " Anna ", "Anna\ufeff"] * 2,
            name="invisible characters",
            raters=("Anna",),
        ),
        by(["Zoë", "Zoe\u0308"] * 4, name="letters in two parts", raters=("Zoë",)),
        by(["'@anna", "@anna"] * 4, name="an apostrophe before a formula", raters=("@anna",)),
        by(["O'Neil", "'Tim"] * 4, name="apostrophes of names", raters=("'Tim", "O'Neil")),
    ]


def _tools() -> list[SmallFile]:
    lm = [
        {
            "doc_id": n,
            "doc": {"q": "x"},
            "target": "2",
            "arguments": {"gen_args_0": {"arg_0": f"Q {n}?"}},
            "resps": [[f"It is {n}."]],
            "filtered_resps": [left],
            "filter": name,
            "metrics": ["match"],
            "match": 1.0,
        }
        for name, left in (("strict", "2"), ("flexible", "[invalid]"))
        for n in range(3)
    ]
    old = [{k: v for k, v in row.items() if k not in ("filter", "metrics")} for row in lm]
    arena = [
        {
            "question_id": f"q{n}",
            "model_a": "m1",
            "model_b": "m2",
            "winner": winner,
            "judge": "arena_user_1",
            "turn": 1,
            "conversation_a": [
                {"role": "user", "content": "When?"},
                {"role": "assistant", "content": f"At {n}."},
            ],
            "conversation_b": [
                {"role": "user", "content": "When?"},
                {"role": "assistant", "content": "No idea."},
            ],
        }
        for n, winner in enumerate(("model_a", "model_b", "tie", "tie (bothbad)"))
    ]
    answers = [
        {"doc_id": "81", "system_id": m, "source": "Write.", "output": f"{m} wrote."}
        for m in ("m1", "m2")
    ]
    single = [
        {
            "question_id": 81,
            "model": m,
            "judge": ["gpt-4", "single-v1"],
            "judgment": "…",
            "score": s,
            "turn": 1,
        }
        for m, s in (("m1", 7), ("m2", -1))
    ]
    pair = [
        {
            "question_id": 81,
            "model_1": "m1",
            "model_2": "m2",
            "g1_winner": "model_1",
            "g2_winner": "tie",
            "judge": ["gpt-4", "pair-v2"],
            "g1_judgment": "…",
            "g2_judgment": "…",
            "turn": 1,
        }
    ]
    return [
        SmallFile(
            "other tools",
            "lm-eval before filters had names",
            {"samples_x.jsonl": jsonl(old)},
            {"documents": 3, "outputs": 3, "scores": 6},
        ),
        SmallFile(
            "other tools",
            "Chatbot Arena",
            {"t.jsonl": jsonl(arena)},
            {"documents": 4, "outputs": 8, "preferences": 4},
        ),
        SmallFile(
            "other tools",
            "MT-bench scores",
            {"o.jsonl": jsonl(answers), "j.jsonl": jsonl(single)},
            {"documents": 1, "outputs": 2, "scores": 1},
            unused=("judgments without a score",),
        ),
        SmallFile(
            "other tools",
            "MT-bench pairs",
            {"o.jsonl": jsonl(answers), "j.jsonl": jsonl(pair)},
            {"documents": 1, "outputs": 2, "verdicts": 1},
        ),
        SmallFile(
            "other tools",
            "MT-bench without answers",
            {"j.jsonl": jsonl(single)},
            errors=((1, "doc_id, system_id", "load the outputs first"),),
        ),
    ]


def _survey_tools() -> list[SmallFile]:
    minimal = [
        {"id": n, "prompt": t["source"], "response": t["output"], "annotator": 1}
        | {"quality": [{"rating": cell}]}
        for n, (t, cell) in enumerate(zip(texts(8, ("a",)), CELLS, strict=True))
    ]
    turk = [
        {
            "HITId": f"h{n}",
            "WorkerId": "ann",
            "AssignmentStatus": "Rejected" if n == 0 else "Approved",
            "Input.question": text["source"],
            "Input.answer": text["output"],
            "Answer.coherence": 1 + n % 5,
        }
        for n, text in enumerate(texts(8, ("a",)))
    ]
    index = [{"": n} | row for n, row in enumerate(wide(CELLS))]
    one_criterion = [
        {"doc_id": r["doc_id"], "system_id": r["system_id"], "Kriterium": "Kohärenz"}
        | {"Bewerter": "Anna", "Wert": r["score"]}
        for r in rated(CELLS)
    ]
    return [
        SmallFile(
            "other tools",
            "Mechanical Turk",
            {"t.csv": table(turk)},
            {"documents": 7, "outputs": 7, "ratings": 7},
            unused=("assignments that are rejected",),
        ),
        SmallFile(
            "other tools",
            "Label Studio's minimal JSON",
            {"t.json": json.dumps(minimal)},
            {"documents": 8, "outputs": 8, "ratings": 8},
            COUNTS,
        ),
        SmallFile(
            "columns beside a rater",
            "pandas' index",
            {"t.csv": table(index)},
            EIGHT | {"ratings": 8},
            COUNTS,
        ),
        SmallFile(
            "columns beside a rater",
            "ratings from -2 to 2",
            {"t.csv": table(wide([-2, -1, 0, 1, 2, -2, -1, 2]))},
            EIGHT | {"ratings": 8},
            scale="-2-2",
        ),
        SmallFile(
            "columns beside a rater",
            "comments, some of them numbers",
            {
                "t.csv": table(
                    [row | {"comment": 3 if n % 2 else "good"} for n, row in enumerate(wide(CELLS))]
                )
            },
            EIGHT | {"ratings": 8},
            COUNTS,
        ),
        SmallFile(
            "columns beside a rater",
            "large numbers",
            {"t.csv": table([row | {"likes": 4000 + 7 * n} for n, row in enumerate(wide(CELLS))])},
            asks="Does “likes” contain ratings",
        ),
        SmallFile(
            "one row, one rating",
            "one criterion in a long table",
            OUTPUTS | {"r.csv": table(one_criterion)},
            EIGHT | {"ratings": 8},
            criteria=("Kohärenz",),
        ),
    ]


def _tools_without_texts() -> list[SmallFile]:
    records: dict[str, dict[str, Any]] = {
        "MT-bench's answers": {"question_id": 81, "model_id": "m", "choices": [{"turns": ["a"]}]},
        "lm-eval's results": {"results": {"gsm8k": {"exact_match": 0.5}}, "config": {}},
        "a task of Label Studio": {"id": 1, "data": {"prompt": "When?"}},
    }
    return [
        SmallFile(
            "other tools",
            name,
            {"t.json": json.dumps(record)},
            errors=((1, "", "which lacks"),),
        )
        for name, record in records.items()
    ]


def _odd_tables() -> list[SmallFile]:
    """Lines above a header, and a header without a name for the first column."""
    plain = table(wide(CELLS))
    quoted = [
        [json.dumps(str(n)), *map(json.dumps, row.values())] for n, row in enumerate(wide(CELLS), 1)
    ]
    names = list(map(json.dumps, wide(CELLS)[0]))
    right: dict[str, Any] = {"reads": EIGHT | {"ratings": 8}, "ratings": COUNTS}
    titles = {
        "a title above the header": "Ratings of ferries\n",
        "a title with separators": "Ratings of ferries,,,,,\n",
        "a title in quotes": '"Ratings, of ferries"\n\n',
        "two lines above the header": "Ratings of ferries\n2026-03-01\n",
    }
    return [
        *(
            SmallFile("tables", name, {"t.csv": f"{title}{plain}"}, **right, unused=("title “",))
            for name, title in titles.items()
        ),
        *(
            SmallFile(
                "tables",
                f"row names of R, {name}",
                {"t.txt": "".join(f"{mark.join(row)}\n" for row in (names, *quoted))},
                **right,
                unused=("row names",),
            )
            for name, mark in {"spaces": " ", "tabs": "\t", "commas": ","}.items()
        ),
        SmallFile(
            "tables",
            "rows of numbers with commas",
            {"t.csv": plain.replace("\n", ",5\n").replace("quality,5", "quality")},
            errors=((2, "", "expected 6 fields"),),
        ),
    ]


def _whole_objects() -> list[SmallFile]:
    """Rows in a list within one object, and names that occur twice in one."""
    rows = wide(CELLS)
    right: dict[str, Any] = {"reads": EIGHT | {"ratings": 8}, "ratings": COUNTS}
    wrappers: dict[str, dict[str, Any]] = {
        "a list named data": {"data": rows},
        "a list beside its version": {"version": "1.1", "train": rows, "info": {"by": "us"}},
    }
    lines = jsonl(rows).splitlines()
    lines[2] = lines[2].replace('"quality"', '"quality": 1, "quality"')
    objects = "\n".join(line.replace("{", "{\n", 1) for line in lines)
    twice = {"lines": "\n".join(lines), "a list": f"[{','.join(lines)}]", "objects": objects}
    return [
        *(
            SmallFile(
                "JSON",
                f"{name}, {'indented' if indent else 'in a line'}",
                {"t.json": json.dumps(record, indent=indent)},
                **right,
                unused=tuple(name for name in record if name in ("version", "info")),
            )
            for name, record in wrappers.items()
            for indent in (None, 1)
        ),
        SmallFile(
            "JSON",
            "two lists in an object",
            {"t.json": json.dumps({"version": 1, "train": rows, "test": rows})},
            errors=((1, "", "“train” and “test”"),),
        ),
        *(
            SmallFile(
                "JSON", f"a name twice, {name}", {"t.json": text}, errors=((line, "", "“quality”"),)
            )
            for (name, text), line in zip(twice.items(), (3, 3, 5), strict=True)
        ),
        SmallFile(
            "JSON",
            "ratings in a list of objects",
            {
                "t.jsonl": jsonl(
                    [text | {"ratings": [{"by": "ann", "good": 4}]} for text in texts()]
                )
            },
            EIGHT,
            unused=("ratings",),
        ),
        SmallFile(
            "JSON",
            "lines below a remark",
            {"t.jsonl": f"// exported\n{jsonl(rows)}"},
            errors=((2, "", "expected 1 fields"),),
        ),
        SmallFile(
            "JSON",
            "a name twice with one value",
            {"t.json": jsonl(rows).replace('"quality": 4', '"quality": 4, "quality": 4')},
            **right,
        ),
    ]


def _workbooks() -> list[SmallFile]:
    rows: list[list[Cell]] = [list(wide(CELLS)[0]), *(list(row.values()) for row in wide(CELLS))]
    unsaved = [[*row[:-1], Xml("<c PLACE><f>SUM(A2:A4)</f><v></v></c>")] for row in rows[1:]]
    more = {"Notes": [["rated in June"]], "Old": rows}
    right: dict[str, Any] = {"reads": EIGHT | {"ratings": 8}, "ratings": COUNTS}
    return [
        SmallFile(
            "workbooks",
            f"other sheets, {'hidden' if hidden else 'visible'}",
            {"t.xlsx": xlsx({"Data": rows} | more, hidden=hidden)},
            **right,
            unused=("sheet “Notes”", "sheet “Old”"),
        )
        for hidden in ([], ["Old"])
    ] + [
        SmallFile(
            "workbooks",
            "formulas without values",
            {"t.xlsx": xlsx({"Data": [rows[0], *unsaved]})},
            errors=((0, "", "8 formulas"),),
        ),
    ]


def _people_and_judges() -> list[SmallFile]:
    """Means among raters, raters and judges on scales of their own, and numbers about workers."""
    means = [row for name in ("ann", "bob", "mean") for row in rated(CELLS, annotator=name)]
    tidy = [text | row for row in means for text in texts() if text.items() <= (text | row).items()]
    own = [*rated(CELLS), *rated([20, 40, 90, 100, 60, 0, 85, 70], annotator="bob")]
    judged = [4, -1, 5, 2, 3, 1, -1, 4]
    turk = [
        {"HITId": n, "WorkerId": "w", "Input.source": text["source"],
         "Input.output": text["output"], "Answer.quality": cell, "Answer.age": 31,
         "Answer.years_of_experience": 4}
        for n, (text, cell) in enumerate(zip(texts(systems=("a",)), CELLS, strict=False))
    ]  # fmt: skip
    return [
        *(
            SmallFile(
                "names",
                f"a mean among raters, {name}",
                OUTPUTS | {"r.csv": table(rows)},
                EIGHT | {"ratings": 24},
                notes=("“mean” is no rater",),
            )
            for name, rows in {"ratings alone": means, "with outputs": tidy}.items()
        ),
        SmallFile(
            "scales",
            "raters on two scales",
            OUTPUTS | {"r.csv": table(own)},
            EIGHT | {"ratings": 16},
            notes=("“ann” end at 5 and by “bob” at 100",),
        ),
        SmallFile(
            "scales",
            "a judge's code for a missing score",
            OUTPUTS | {"s.csv": table(rated(judged)).replace("annotator", "judge")},
            errors=((3, "score", "-1"), (8, "score", "-1")),
        ),
        SmallFile(
            "other tools",
            "numbers about workers of Mechanical Turk",
            {"t.csv": table(turk)},
            {"documents": 4, "outputs": 4, "ratings": 4},
            criteria=("quality",),
            unused=("Answer.age", "Answer.years_of_experience"),
        ),
    ]


SMALL_FILES = (
    *_forms_of_cells(),
    *_missing_cells(),
    *_odd_cells(),
    *_columns_beside_raters(),
    *_tidy(),
    *_readings(),
    *_scales(),
    *_encodings(),
    *_odd_tables(),
    *_whole_objects(),
    *_workbooks(),
    *_people_and_judges(),
    *_names(),
    *_tools(),
    *_tools_without_texts(),
    *_survey_tools(),
)
