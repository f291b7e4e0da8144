"""Tables and columns as notebooks have them: all give the numbers of a list of dictionaries."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

import geval

Records = list[dict[str, Any]]
IDS = {"document": "article", "system": "model"}
NAMED = IDS | {"human": ["ann", "bob"], "judge": "gpt"}
# Each is a source, and how its columns are named.
Form = Callable[[Records], tuple[Any, dict[str, Any]]]


@pytest.fixture
def rows() -> Records:
    rng = np.random.default_rng(3)
    quality = rng.integers(1, 6, 120)
    noise = rng.integers(-1, 2, (3, 120))
    scores = np.clip(quality + noise, 1, 5).tolist()
    return [
        {"article": f"d{at // 3}", "model": f"m{at % 3}", "ann": a, "bob": b, "gpt": c}
        for at, (a, b, c) in enumerate(zip(*scores, strict=True))
    ]


def without(rows: Records, *names: str) -> Records:
    return [{name: row[name] for name in row if name not in names} for row in rows]


def column(rows: Records, name: str) -> list[Any]:
    return [row[name] for row in rows]


def numbered(rows: Records) -> Records:
    return [dict(enumerate(row.values())) for row in rows]  # type: ignore[arg-type]


POLARS: dict[str, Form] = {
    "lazy": lambda rows: (pl.DataFrame(rows).lazy(), NAMED),
    "several frames": lambda rows: ([pl.DataFrame(rows[:50]), pl.LazyFrame(rows[50:])], NAMED),
    "frames of other columns": lambda rows: (
        [pl.DataFrame(without(rows, "gpt")), pl.DataFrame(without(rows, "ann", "bob"))], NAMED,
    ),
    "columns by name": lambda rows: ({name: column(rows, name) for name in rows[0]}, NAMED),
    "arrays by name": lambda rows: (
        {name: np.array(column(rows, name)) for name in rows[0]}, NAMED,
    ),
    "numbers as names": lambda rows: (
        numbered(rows), {"document": 0, "system": 1, "human": [2, 3], "judge": 4},
    ),
    "an array of names": lambda rows: (rows, NAMED | {"human": np.array(["ann", "bob"])}),
    "a series as judge": lambda rows: (
        pl.DataFrame(without(rows, "gpt")),
        NAMED | {"judge": pl.Series("gpt", column(rows, "gpt"))},
    ),
    "values replace a column of their name": lambda rows: (
        pl.DataFrame(rows).with_columns(gpt=0),
        NAMED | {"judge": pl.Series("gpt", column(rows, "gpt"))},
    ),
    "an array as document": lambda rows: (
        without(rows, "article"), NAMED | {"document": np.array(column(rows, "article"))},
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", POLARS)
def test_each_form_has_the_numbers_of_records(rows: Records, form: str) -> None:
    source, named = POLARS[form](rows)

    assert_same(geval.measure(source, **named), rows)


def assert_same(result: geval.Measurement, rows: Records) -> None:
    (expected,), (measured,) = geval.measure(rows, **NAMED).criteria, result.criteria

    assert (measured.rho, measured.interval) == (expected.rho, expected.interval)
    assert (measured.outputs, measured.raters) == (120, 2)


def test_a_person_s_and_a_judge_s_values_of_one_name_stay_apart(rows: Records) -> None:
    people, judge = (pl.Series("score", column(rows, name)) for name in ("ann", "gpt"))

    result = geval.measure(without(rows, "ann", "bob", "gpt"), human=people, judge=judge, **IDS)

    expected = geval.measure(rows, human="ann", judge="gpt", **IDS)
    assert result.criteria[0].rho == expected.criteria[0].rho


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"human": np.arange(5)}, "human= has 5 values for 120 rows"),
        ({"human": np.zeros((120, 2))}, "ndarray is no list of values"),
        ({"judge": "gtp"}, "no judge and no column 'gtp'. Did you mean gpt\\? Its columns are ann"),
        ({"human": ["ann", "bop"]}, "no person and no column 'bop'. Did you mean bob\\?"),
        ({"document": "artcle"}, "no column 'artcle'. Did you mean article\\?"),
        ({"by": "modle"}, "no field 'modle'. Did you mean model\\?"),
        ({"document": ["article", "model"]}, "document= names one column, not 2"),
    ],
)
def test_what_is_wrong_is_named(rows: Records, given: dict[str, Any], message: str) -> None:
    with pytest.raises(geval.InputError, match=message):
        geval.measure(rows, **NAMED | given)


def test_rates_policies_and_searches_take_the_same(rows: Records, tmp_path: Any) -> None:
    passes = [row | {"ann": row["ann"] > 2, "gpt": row["gpt"] > 2} for row in rows]
    table = pl.DataFrame(without(passes, "gpt")).lazy()
    judge = np.array(column(passes, "gpt"))

    assert (
        len(geval.rate(table, by="model", human="ann", judge=judge, document="article").rates) == 3
    )
    kept = geval.policy(table, promise="few false passes", human="ann", judge=judge, **IDS)
    assert kept.judge == "judge"
    better = geval.improve(
        {name: column(rows, name) for name in rows[0]}, locked=tmp_path, judge="gpt",
        judges=["gpt"], human=["ann", "bob"], **IDS,
    )  # fmt: skip
    assert better.open_documents


@pytest.fixture
def pd() -> ModuleType:
    return pytest.importorskip("pandas")  # type: ignore[no-any-return]


def test_frames_of_pandas(rows: Records, pd: ModuleType) -> None:
    frame = pd.DataFrame(rows)
    levels = frame.set_axis(pd.MultiIndex.from_product([["of"], frame.columns]), axis="columns")
    forms = [
        (frame.set_index("article"), NAMED),
        (frame.set_index(["article", "model"]), NAMED),
        (frame.set_index("article", drop=False), NAMED),
        ([frame[:50].set_index("article"), frame[50:].set_index("article")], NAMED),
        (frame.set_axis(range(5), axis="columns"),
         {"document": 0, "system": 1, "human": [2, 3], "judge": 4}),
        (levels, {"human": [("of", "ann"), ("of", "bob")], "judge": [("of", "gpt")],
                  "document": [("of", "article")], "system": [("of", "model")]}),
        (frame, NAMED | {"human": frame.columns[2:4]}),
        (frame, NAMED | {"judge": frame["gpt"]}),
        (frame.drop(columns="gpt"), NAMED | {"judge": frame["gpt"]}),
        (frame.astype({"article": "category", "gpt": "Int64"}), NAMED),
        ({name: frame[name] for name in frame}, NAMED),
    ]  # fmt: skip

    for source, named in forms:
        assert_same(geval.measure(source, **named), rows)


def test_what_pandas_would_pair_by_its_index_is_refused(rows: Records, pd: ModuleType) -> None:
    frame = pd.DataFrame(rows)
    mixed = frame["gpt"].sample(frac=1, random_state=1)

    for call in (
        lambda: geval.measure(frame["ann"], mixed),
        lambda: geval.measure(frame, **NAMED | {"judge": mixed}),
        lambda: geval.measure({"human": frame["ann"], "judge": mixed}),
    ):
        with pytest.raises(geval.InputError, match="different indexes"):
            call()
    with pytest.raises(geval.InputError, match="Several columns are named 'ann'"):
        geval.measure(pd.concat([frame, frame[["ann"]]], axis=1), **NAMED)
