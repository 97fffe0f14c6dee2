"""Pages of the site that lie elsewhere: README, house rules and results as they are, and notebooks as Markdown."""

import json
import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# By their place in the repository, and in the site.
OUTSIDE = {
    "README.md": "index.md",
    **{
        path: path
        for path in (
            *("CONTRIBUTING.md", "CITATION.cff", "LICENSE"),
            *(str(page.relative_to(ROOT)) for page in sorted(ROOT.glob("results/*/*.md"))),
        )
    },
}
# A report is a page of its own: what a link to its folder opens.
REPORTS = {str(page.parent.relative_to(ROOT)): page for page in sorted(ROOT.glob("results/*/report.html"))}
LINK = re.compile(r"(\]\(|(?:src|srcset|href)=\")(?!\w+:|#)([^)\"#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, place in OUTSIDE.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    for folder, page in REPORTS.items():
        files.append(File.generated(config, f"{folder}/report.html", abs_src_path=str(page)))
        for other in (*page.parent.glob("**/*.svg"), *page.parent.glob("measurements.jsonl")):
            place = str(other.relative_to(ROOT))
            files.append(File.generated(config, place, abs_src_path=str(other)))
    for notebook in sorted(Path(config.docs_dir).glob("notebooks/*.ipynb")):
        content = markdown_of(json.loads(notebook.read_text(encoding="utf-8")))
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links of the repository as links of the site."""
    at = next((source for source, place in OUTSIDE.items() if place == page.file.src_uri), f"docs/{page.file.src_uri}")

    def of_site(link: re.Match[str]) -> str:
        target = os.path.normpath(PurePosixPath(at).parent / link[2])
        place = OUTSIDE.get(target, f"{target}/report.html" if target in REPORTS else target.removeprefix("docs/"))
        if place.endswith(".ipynb"):
            place = f"{place.removesuffix('.ipynb')}.md"
        return link[1] + os.path.relpath(place, PurePosixPath(page.file.src_uri).parent)

    return LINK.sub(of_site, markdown)


def markdown_of(notebook: dict[str, list[dict[str, object]]]) -> str:
    """A notebook's text and code. What its code prints is not kept, as numbers depend on the machine."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])  # type: ignore[call-overload]
        parts.append(f"```python\n{text}\n```" if cell["cell_type"] == "code" else text)
    return "\n\n".join(parts) + "\n"
