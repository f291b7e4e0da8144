"""A probe's findings as rows for people."""

from dataclasses import dataclass

from geval.llm.probe import Findings


@dataclass(frozen=True)
class FindingsRow:
    """A capability: its name, whether or how far it is supported, and the probe's note."""

    what: str
    found: str
    note: str


def findings_rows(findings: Findings) -> list[FindingsRow]:
    """Return the findings as table rows, the capabilities that decide the scoring mode first."""
    notes = findings.notes

    def row(what: str, value: object, name: str, note: str = "") -> FindingsRow:
        shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        return FindingsRow(what, str(shown), notes.get(name, note))

    alternatives = f"{findings.logprobs} per token" if findings.logprobs else "none"
    mode = findings.best_mode
    return [
        FindingsRow("Best scoring mode", mode or "none", "" if mode else findings.why_not("")),
        row("Answers as", findings.answered_model, "answer"),
        row(
            "Log-probabilities",
            alternatives,
            "logprobs",
            "needed for scores by token probabilities",
        ),
        row(
            "Several replies per call",
            f"up to {findings.most_choices}" if findings.most_choices > 1 else "no",
            "most_choices",
            "makes samples cheaper",
        ),
        row("Thinks before it answers", findings.thinks, "thinks"),
        row("Temperature", findings.temperature, "temperature", "needed for samples that differ"),
        row("Parameter for the reply limit", findings.length_parameter, "length_parameter"),
        row("top_p", findings.top_p, "top_p", "sent with samples, where it is taken"),
        row("Seed", findings.seed, "seed"),
        row("Role of instructions", findings.instructions, "instructions"),
        row("Replies by a JSON schema", findings.schema, "schema", "for judges that ask for JSON"),
        row("Echo with log-probabilities", findings.echo, "echo", "needed for GPTScore"),
        *(
            FindingsRow(f"A real prompt, mode {mode}", "not read" if reason else "read", reason)
            for mode, reason in findings.modes.items()
        ),
    ]
