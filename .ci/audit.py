"""`make lint`: known vulnerabilities of the pinned dependencies, by pip-audit, where a database of
them is reachable.

Fails if there is one. Without a database it says so and passes, since lint must run on machines
without a network; with `--required`, for a release, it fails then, and if any dependency was left
out.
"""

import argparse
import json
import subprocess
import sys

COMMAND = (
    "-m", "pip_audit", "--requirement", "constraints.txt", "--no-deps", "--disable-pip",
    "--progress-spinner", "off", "--timeout", "10", "--format", "json",
)  # fmt: skip
UNREACHABLE = "NOT AUDITED: no database of vulnerabilities is reachable. A release needs one."


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--required", action="store_true", help="fail without a database")
    required = parser.parse_args().required
    done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, check=False)
    code, lines = outcome(done.stdout, required=required)
    print("\n".join(lines))
    return code


def outcome(printed: str, *, required: bool) -> tuple[int, list[str]]:
    """The exit code, and what to say, for what pip-audit printed."""
    try:
        entries = json.loads(printed)["dependencies"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return int(required), [UNREACHABLE]
    audited = [entry for entry in entries if "vulns" in entry]
    left_out = [entry for entry in entries if "vulns" not in entry]
    if not audited:
        return int(required), [UNREACHABLE]
    bad = [
        f"{entry['name']} {entry['version']}: {vuln['id']}, fixed in"
        f" {', '.join(vuln['fix_versions']) or 'no version yet'}"
        for entry in audited
        for vuln in entry["vulns"]
    ]
    skipped = [
        f"NOT AUDITED: {entry['name']} ({entry.get('skip_reason', 'no reason')})"
        for entry in left_out
    ]
    lines = [*bad, *skipped] or [f"{len(audited)} dependencies have no known vulnerability."]
    return int(bool(bad or (required and skipped))), lines


if __name__ == "__main__":
    sys.exit(main())
