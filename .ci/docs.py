"""Build the docs as a site: `python .ci/docs.py`. Offline; ends with 1 if a link leads nowhere.

The pages of docs/ and a reference written from the code are put into a folder, from which MkDocs
makes docs_site/. The product serves it at /docs/, under its own content security policy.
"""

import os
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

from reference import pages_from_code

HERE = Path(__file__).resolve().parent.parent
PAGES, SITE = HERE / ".docs_pages", HERE / "docs_site"
# The theme's search in other languages, and maps for debugging it.
UNUSED = ("assets/javascripts/lunr", "**/*.map", "sitemap.xml*")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=SITE, help="the folder that the site is put in")
    site = parser.parse_args().to.resolve()
    stage(PAGES)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", site],
        cwd=HERE, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False,
    )  # fmt: skip
    if not done.returncode:
        (site / "llms.txt").write_text(listed(PAGES), encoding="utf-8")
    shutil.rmtree(PAGES)
    if done.returncode:
        raise SystemExit(done.returncode)
    for path in [path for pattern in UNUSED for path in site.glob(pattern)]:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    problems = [*broken_links(site), *refused_by_policy(site)]
    pages = sum(1 for _ in site.rglob("*.html"))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())
    print(*problems, f"{pages} pages, {size / 1e6:.1f} MB, {len(problems)} problems", sep="\n")
    raise SystemExit(bool(problems))


def stage(folder: Path) -> None:
    """All pages of the site: those of docs/, with the reference."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("site", "skills")
    shutil.copytree(HERE / "docs", folder, ignore=ignored)
    shutil.copytree(HERE / "docs" / "site" / "assets", folder / "assets" / "site")
    for name, text in pages_from_code().items():
        path = folder / "reference" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def listed(pages: Path) -> str:
    """Each page with its address, for language models (llmstxt.org)."""
    lines = ["# geval_site", ""]
    for path in sorted(pages.rglob("*.md")):
        title = path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
        name = path.relative_to(pages).with_suffix("").as_posix()
        address = re.sub(r"(^|/)(index|README)/$", r"\1", f"{name}/")
        lines.append(f"- [{title}](/docs/{address})")
    return "\n".join(lines) + "\n"


class Page(HTMLParser):
    """What a page links to, which anchors it has, and what the policy would refuse."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.refused: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in ("href", "src") if name in given]
        inline = tag == "script" and "src" not in given and given.get("type") != "application/json"
        if inline or tag == "style" or "style" in given:
            self.refused.append(f"<{tag}> in the page")
        self.refused += [f"{name}=" for name in given if name.startswith("on")]
        fetched = given.get("src") or (given.get("href", "") if tag == "link" else "")
        if re.match(r"https?:|//", fetched) and given.get("rel") != "canonical":
            self.refused.append(fetched)


def pages_of(site: Path) -> dict[Path, Page]:
    found = {}
    for path in site.rglob("*.html"):
        found[path] = Page()
        found[path].feed(path.read_text(encoding="utf-8"))
    return found


def broken_links(site: Path) -> Iterator[str]:
    """Links to pages or anchors that do not exist in the site."""
    pages = pages_of(site)
    for path, page in pages.items():
        for link in page.links:
            target, anchor = urldefrag(link)
            # What is not found is shown under any address, so its links begin with the site's.
            if re.match(r"[a-z]+:|//", link) or path.name == "404.html":
                continue
            place = (path.parent / unquote(target)).resolve() if target else path
            place = place / "index.html" if place.is_dir() else place
            if not place.exists() or (
                anchor and place in pages and unquote(anchor) not in pages[place].anchors
            ):
                yield f"{path.relative_to(site)}: {link} leads nowhere"


def refused_by_policy(site: Path) -> Iterator[str]:
    """Inline scripts and styles, and what is fetched from elsewhere."""
    for path, page in pages_of(site).items():
        for refused in page.refused:
            yield f"{path.relative_to(site)}: the content security policy refuses {refused}"


if __name__ == "__main__":
    main()
