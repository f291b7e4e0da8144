"""`make lint`: known vulnerabilities of the pinned dependencies, by pip-audit, where a database of
them is reachable.

Fails if there is one; without a database it says so and passes, since lint must run on machines
without a network.
"""

import json
import subprocess
import sys

COMMAND = (
    "-m", "pip_audit", "--requirement", "constraints.txt", "--no-deps", "--disable-pip",
    "--progress-spinner", "off", "--timeout", "10", "--format", "json",
)  # fmt: skip
UNREACHABLE = "No database of vulnerabilities is reachable; the dependencies were not audited."


def main() -> int:
    done = subprocess.run([sys.executable, *COMMAND], capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (json.JSONDecodeError, KeyError):
        print(UNREACHABLE)
        return 0
    audited = [one for one in found if "vulns" in one]
    bad = [(one["name"], one["version"], vuln) for one in audited for vuln in one["vulns"]]
    for name, version, vuln in bad:
        mended = ", ".join(vuln["fix_versions"]) or "no version yet"
        print(f"{name} {version}: {vuln['id']}, mended in {mended}")
    if not bad:
        print(
            f"{len(audited)} dependencies have no known vulnerability." if audited else UNREACHABLE
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
