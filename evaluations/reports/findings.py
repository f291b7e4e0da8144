"""A probe's findings as rows for people."""

from dataclasses import dataclass

from evaluations.llm.probe import Findings


@dataclass(frozen=True)
class FindingsRow:
    """One capability: its name, whether or how far it is supported, and the probe's note."""

    what: str
    found: str
    note: str


def findings_rows(findings: Findings) -> list[FindingsRow]:
    """The findings as a table, the capabilities that decide the scoring mode first."""
    notes = findings.notes

    def row(what: str, found: object, name: str, note: str = "") -> FindingsRow:
        shown = {True: "yes", False: "no"}.get(found, found) if isinstance(found, bool) else found
        return FindingsRow(what, str(shown), notes.get(name, note))

    alternatives = f"{findings.logprobs} per token" if findings.logprobs else "none"
    return [
        row("Answers as", findings.answered_model, "answer"),
        row(
            "Log-probabilities",
            alternatives,
            "logprobs",
            "needed for scores by token probabilities",
        ),
        row(
            "Several replies per call",
            findings.several_choices,
            "several_choices",
            "makes samples cheaper",
        ),
        row("Thinks before it answers", findings.thinks, "thinks"),
        row("Temperature", findings.temperature, "temperature", "needed for samples that differ"),
        row("Parameter for the reply limit", findings.length_parameter, "length_parameter"),
        row("System role", findings.system_role, "system_role"),
        row("Echo with log-probabilities", findings.echo, "echo", "needed for GPTScore"),
    ]
