"""The origins of public files, and their conversion from the released formats.

Nothing is downloaded: a source is converted from a checkout of its repository.
"""

import csv
import gzip
import io
import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROUGE = ("rouge1_f", "rouge2_f", "rougel_f")
# Abbreviations of criteria in the names of Chiang and Lee's files.
SHORT = {"nat": "naturalness", "coh": "coherence", "eng": "engagingness", "gro": "groundedness"}
# UniEval's files of predictions, by our file names.
UNIEVAL = {
    "topical_chat/topical_chat_unieval.json": "dialogue/topical_chat_result.json",
    "qags_xsum/qags_xsum_unieval.json": "fact/qags_xsum_result.json",
    "qags_cnndm/qags_cnndm_unieval.json": "fact/qags_cnndm_result.json",
    "sfres/sfres_unieval.json": "data2text/sfres_result.json",
    "sfhot/sfhot_unieval.json": "data2text/sfhot_result.json",
}
_RATINGS = ("doc_id", "system_id", "criterion")


class ConversionError(Exception):
    """A checkout cannot be converted; the message says which file, where in it, and what to do."""


@dataclass(frozen=True)
class PublicSource:
    """A public repository with data: `holds` describes them, `writes` has our files that are made
    from it."""

    name: str
    repository: str
    paper: str
    holds: str
    writes: tuple[str, ...]
    convert: Callable[[Path], Iterator[tuple[str, bytes]]]


def convert_source(name: str, checkout: Path, data: Path) -> list[Path]:
    """Write our files from a checkout of a source; files that exist are replaced.

    Raises:
        ConversionError: there is no such source, or the checkout does not have its form.
    """
    source = SOURCES.get(name)
    if source is None:
        raise ConversionError(f"There is no source {name!r} (sources: {', '.join(SOURCES)}).")
    if not checkout.is_dir():
        raise ConversionError(f"{checkout} is not a folder; clone {source.repository} there.")
    # Everything is read before anything is written.
    converted = list(source.convert(checkout))
    written = []
    for path, content in converted:
        target = data / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written.append(target)
    return written


def source_of(path: str) -> PublicSource | None:
    """Return the source of one of our files."""
    return next((source for source in SOURCES.values() if path in source.writes), None)


def _summeval_texts(checkout: Path) -> Iterator[tuple[str, bytes]]:
    """Texts from data.pkl; scores of ROUGE-1.5.5 from final_p.pkl, which has the same form."""
    folder = checkout / "SUM" / "SummEval"
    documents = _unpickled(folder / "data.pkl")
    yield (
        "summeval/outputs.jsonl.gz",
        _json_lines(
            {
                "doc_id": str(doc_id),
                "system_id": str(system),
                "source": document["src"],
                "references": list(document["ref_summs"]),
                "output": output["sys_summ"],
            }
            for doc_id, document in documents.items()
            for system, output in document["sys_summs"].items()
        ),
    )
    scored = _unpickled(folder / "final_p.pkl")
    yield (
        "summeval/metric_scores.csv.gz",
        _csv(
            (*_RATINGS, "judge", "score"),
            (
                (str(doc_id), str(system), "", metric, repr(float(output["scores"][metric])))
                for doc_id, document in scored.items()
                for system, output in document["sys_summs"].items()
                for metric in ROUGE
            ),
        ),
    )


def _summeval_ratings(checkout: Path) -> Iterator[tuple[str, bytes]]:
    """Annotator -> document__system__criterion -> score, of people and of LLMs."""
    folder = checkout / "data" / "summeval"
    for path, name, column in (
        ("summeval/human_ratings.csv.gz", "human_annotations.json", "annotator"),
        ("summeval/llm_scores.csv.gz", "llm_annotations.json", "judge"),
    ):
        yield path, _csv((*_RATINGS, column, "score"), _annotated(folder / name))


def _annotated(path: Path) -> Iterator[tuple[str, ...]]:
    for annotator, scores in _read_json(path, dict).items():
        for key, score in scores.items():
            parts = key.rsplit("__", 2)
            if len(parts) != len(_RATINGS):
                raise ConversionError(
                    f"{path}: {annotator} has {key!r}, which is not document__system__criterion."
                )
            yield (*parts, annotator, str(score))


def _unieval(checkout: Path) -> Iterator[tuple[str, bytes]]:
    """Return UniEval's predictions unchanged, as we can read their format."""
    folder = checkout / "reproduce" / "unieval_predict"
    for path, name in UNIEVAL.items():
        items = _read_json(folder / name, list)
        for number, item in enumerate(items, start=1):
            if not {"system_output", "scores", "predict_scores"} <= set(item):
                raise ConversionError(
                    f"{folder / name}: item {number} lacks system_output, scores or predict_scores."
                )
        yield path, json.dumps(items, ensure_ascii=False, indent=1).encode()


def _sampled_replies(checkout: Path) -> Iterator[tuple[str, bytes]]:
    """Merge four files of replies, one per criterion; turns are numbered in the order of the
    corpus."""
    corpus = _read_json(checkout / "data" / "topical_chat.json", list)
    turns = {source: f"tc-{index:02}" for index, source in enumerate(_in_order(corpus, "source"))}
    for path, ending in (
        ("topical_chat/gpt35_geval_responses.json.gz", "geval"),
        ("topical_chat/gpt35_geval_no_auto_cot_responses.json.gz", "geval_no_auto_cot"),
    ):
        items = []
        for short, criterion in SHORT.items():
            file = checkout / "results" / "topical_chat" / f"gpt3.5_{short}_{ending}.json"
            for number, item in enumerate(_read_json(file, list), start=1):
                try:
                    items.append(
                        {
                            "doc_id": turns[item["source"]],
                            "system_id": item["system_id"],
                            "criterion": criterion,
                            "scores": {criterion: item["scores"][criterion]},
                            "all_responses": item["all_responses"],
                        }
                    )
                except KeyError as error:
                    raise ConversionError(
                        f"{file}: item {number} has no {error}, or it is of a turn that is not in"
                        " data/topical_chat.json."
                    ) from None
        yield path, gzip.compress(json.dumps(items, ensure_ascii=False).encode(), mtime=0)


def _in_order(items: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(item[key] for item in items))


def _read_json(path: Path, kind: type) -> Any:
    content = _read(path)
    try:
        value = json.loads(content)
    except ValueError as error:
        raise ConversionError(f"{path} is not JSON: {error}.") from error
    if not isinstance(value, kind):
        raise ConversionError(f"{path} holds no {'list' if kind is list else 'object'}.")
    return value


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise ConversionError(
            f"{path} does not exist; is this a checkout of the repository itself?"
        ) from None
    if content.startswith(b"version https://git-lfs"):
        raise ConversionError(f"{path} is a pointer of Git LFS; run `git lfs pull` there.")
    return content


class _PlainUnpickler(pickle.Unpickler):
    """Reads texts, numbers, lists and dictionaries. A pickle can call any function; this refuses
    all but those that NumPy's numbers need."""

    _NUMBERS = {
        ("numpy", "dtype"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy._core.multiarray", "scalar"),
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in self._NUMBERS:
            return super().find_class(module, name)
        raise ConversionError(
            f"The file wants to call {module}.{name}; the release holds only texts and numbers, so"
            " this file is not as released."
        )


def _unpickled(path: Path) -> Any:
    content = _read(path)
    try:
        return _PlainUnpickler(io.BytesIO(content)).load()
    except ConversionError as error:
        raise ConversionError(f"{path}: {error}") from None
    except Exception as error:  # a broken pickle can raise almost any exception
        raise ConversionError(f"{path} is not a pickle: {error}.") from error


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    return gzip.compress(text.encode(), mtime=0)


def _csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return gzip.compress(file.getvalue().encode(), mtime=0)


SOURCES = {
    source.name: source
    for source in (
        PublicSource(
            "bartscore",
            "https://github.com/neulab/BARTScore",
            "Yuan et al. (2021), BARTScore; SummEval by Fabbri et al. (2021)",
            "SummEval's articles, references and summaries (SUM/SummEval/data.pkl), and their"
            " scores by ROUGE-1.5.5 (final_p.pkl)",
            ("summeval/outputs.jsonl.gz", "summeval/metric_scores.csv.gz"),
            _summeval_texts,
        ),
        PublicSource(
            "alttest",
            "https://github.com/nitaytech/AltTest",
            "Calderon et al. (2025), The Alternative Annotator Test",
            "SummEval's ratings by three experts and six LLMs (data/summeval)",
            ("summeval/human_ratings.csv.gz", "summeval/llm_scores.csv.gz"),
            _summeval_ratings,
        ),
        PublicSource(
            "unieval",
            "https://github.com/maszhongming/UniEval",
            "Zhong et al. (2022), UniEval",
            "Topical-Chat, QAGS, SFRES and SFHOT with human and UniEval's scores"
            " (reproduce/unieval_predict)",
            tuple(UNIEVAL),
            _unieval,
        ),
        PublicSource(
            "closerlook",
            "https://github.com/d223302/A-Closer-Look-To-LLM-Evaluation",
            "Chiang and Lee (2023), A Closer Look into Automatic Evaluation",
            "20 replies of gpt-3.5-turbo for each response of Topical-Chat (results/topical_chat)",
            (
                "topical_chat/gpt35_geval_responses.json.gz",
                "topical_chat/gpt35_geval_no_auto_cot_responses.json.gz",
            ),
            _sampled_replies,
        ),
    )
}
