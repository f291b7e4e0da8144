"""The schema of project files, for editors:
`python -m geval.pipelines.project_files.schema > docs/project.schema.json`."""

import json

from geval.pipelines.project_files.file import ProjectFile


def written_schema() -> str:
    """Return the text of docs/project.schema.json."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return (
        json.dumps(dialect | ProjectFile.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
    )


if __name__ == "__main__":
    print(written_schema(), end="")  # noqa: T201
