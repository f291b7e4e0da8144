"""The docs for language models: `llms.txt`, a list of pages with what each says, and
`llms-full.txt`, all of them in one file (llmstxt.org); `.ci/docs.py` writes them beside the pages.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HEAD = "# geval_site\n\n> {summary}\n"
LONGEST = 160


class _Loader(yaml.SafeLoader):
    """Settings of MkDocs name functions of Python, which nothing here needs."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_arguments: None)


def write_for_models(pages: Path, settings: Path, site: Path) -> None:
    """Write both files.

    Args:
        pages: the folder of the pages' sources.
        settings: `mkdocs.yml`, whose navigation orders them.
        site: the folder that they are put in.
    """
    content = yaml.load(settings.read_text(encoding="utf-8"), _Loader)  # noqa: S506 (safe, above)
    head = HEAD.format(summary=content["site_description"])
    entries = list(_entries(content["nav"]))
    (site / "llms.txt").write_text(head + _listed(entries, pages), encoding="utf-8")
    texts = [
        f"<!-- {path} -->\n\n{(pages / path).read_text(encoding='utf-8').strip()}\n"
        for _section, _title, path in entries
    ]
    (site / "llms-full.txt").write_text("\n".join([head, *texts]), encoding="utf-8")


def _entries(nav: list[Any], section: str = "Start") -> Iterator[tuple[str, str, str]]:
    """Section, title and path of each page, in order; pages of sections within sections are those
    of the outer one."""
    for entry in nav:
        ((title, value),) = entry.items()
        if isinstance(value, str):
            yield section, title, value
        else:
            yield from _entries(value, title if section == "Start" else section)


def _listed(entries: list[tuple[str, str, str]], pages: Path) -> str:
    lines: list[str] = []
    now = ""
    for section, title, path in entries:
        if section != now:
            lines += ["", f"## {section}", ""]
            now = section
        address = re.sub(r"(?:^|/)(?:index|README)$", "", path.removesuffix(".md"))
        about = first_sentence((pages / path).read_text(encoding="utf-8"))
        lines.append(f"- [{title}](/docs/{address}{'/' if address else ''}): {about}")
    return "\n".join(lines) + "\n"


def first_sentence(text: str) -> str:
    """What a page says first, without marks of Markdown; of a page without a paragraph nothing."""
    for part in re.split(r"\n\s*\n", text):
        if re.match(r"\s*(?:#|\||```|!|<|-|\d+\. )", part):
            continue
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(part.split()))
        plain = re.sub(r"[*`_]{1,2}(\S)", r"\1", plain).replace("*", "").replace("`", "")
        sentence = re.split(r"(?<=[.:]) ", plain)[0]
        return sentence if len(sentence) <= LONGEST else f"{sentence[: LONGEST - 1]}…"
    return ""
