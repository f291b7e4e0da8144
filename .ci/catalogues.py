"""Catalogues of annotators' pages and mails: `geval_site/locale/*/LC_MESSAGES/django.po` and `.mo`.

    python .ci/catalogues.py     adds what the code says to each .po, drops the rest, writes the .mo

Nothing of gettext's own programs is needed, neither here nor where the site runs. A .po has a text
and its translation on one line each; entries stand in the order of their texts.
"""

import ast
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
LOCALE = HERE / "geval_site" / "locale"
PACKAGES = ("geval_site", "evaluations", "annotations")
MARKS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
HEADER = "Content-Type: text/plain; charset=UTF-8\n"
_ENTRY = re.compile(r'^msgid "(.*)"\nmsgstr "(.*)"$', re.MULTILINE)


def texts_of_code() -> Iterator[str]:
    """What Python marks, by calls whose first argument is a text."""
    for package in PACKAGES:
        for path in sorted((HERE / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id in MARKS
                    and node.args
                    and isinstance(node.args[0], ast.Constant)
                ):
                    yield str(node.args[0].value)


def texts_of_templates() -> Iterator[str]:
    """What templates mark."""
    from django.template import engines
    from django.template.base import Template
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    engine = engines["django"].engine
    for path in sorted((HERE / "templates").rglob("*.*")):
        source = path.read_text(encoding="utf-8")
        if "i18n" not in source:
            continue
        nodes = Template(source, engine=engine).nodelist
        for node in nodes.get_nodes_by_type(TranslateNode):
            if isinstance(node.filter_expression.var, str):
                yield node.filter_expression.var
            elif node.filter_expression.var.literal:
                yield node.filter_expression.var.literal
        for block in nodes.get_nodes_by_type(BlockTranslateNode):
            yield block.render_token_list(block.singular)[0]


def read_po(text: str) -> dict[str, str]:
    """Translations by text; what is not translated is ""."""
    return {_read(text): _read(translation) for text, translation in _ENTRY.findall(text) if text}


def write_po(entries: dict[str, str]) -> str:
    lines = [f'msgid ""\nmsgstr "{_written(HEADER)}"\n']
    lines += [
        f'msgid "{_written(text)}"\nmsgstr "{_written(entries[text])}"\n'
        for text in sorted(entries)
    ]
    return "\n".join(lines)


def compile_mo(entries: dict[str, str]) -> bytes:
    """A catalogue as GNU gettext's manual defines it, without a table of hashes."""
    pairs = sorted(
        (text.encode(), translation.encode())
        for text, translation in {"": HEADER, **entries}.items()
        if translation
    )
    tables, texts = [b"", b""], b""
    start = 28 + 16 * len(pairs)
    for column in (0, 1):
        for pair in pairs:
            tables[column] += struct.pack("<II", len(pair[column]), start + len(texts))
            texts += pair[column] + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, start)
    return head + tables[0] + tables[1] + texts


def catalogues() -> dict[str, Path]:
    """The .po of each language, by the name of its folder."""
    return {path.parent.parent.name: path for path in sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))}


def _written(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _read(text: str) -> str:
    return re.sub(r"\\(.)", lambda escaped: {"n": "\n"}.get(escaped[1], escaped[1]), text)


def main() -> None:
    sys.path.insert(0, str(HERE))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    os.environ.setdefault("GEVAL_MODE", "local")
    import django

    django.setup()
    texts = sorted({*texts_of_code(), *texts_of_templates()})
    for name, path in catalogues().items():
        old = read_po(path.read_text(encoding="utf-8"))
        entries = {text: old.get(text, "") for text in texts}
        path.write_text(write_po(entries), encoding="utf-8")
        path.with_suffix(".mo").write_bytes(compile_mo(entries))
        lacking = sum(not translation for translation in entries.values())
        print(f"{name}: {len(entries)} texts, {lacking} not translated")


if __name__ == "__main__":
    main()
