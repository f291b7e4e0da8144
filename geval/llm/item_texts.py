"""The texts of a judged item, as prompts show them. Pure and cheap to import, as models use it."""

from dataclasses import dataclass, replace

from geval.texts.turns import ASSISTANT, Turn


@dataclass(frozen=True)
class Texts:
    """What a judged item puts into a prompt's placeholders; `rival` is the other output of a
    comparison.

    In a conversation, `history` are the turns before the judged output, and `turns` those of the
    output where it is more than a text; `rival_turns` are those of the other output. Where
    `as_read` is set, lines of the output that pose as turns are already quoted
    (geval/texts/turns.py).
    """

    source: str
    output: str
    context: str = ""
    references: tuple[str, ...] = ()
    rival: str = ""
    history: tuple[Turn, ...] = ()
    turns: tuple[Turn, ...] = ()
    rival_turns: tuple[Turn, ...] = ()
    as_read: str = ""

    @property
    def is_conversation(self) -> bool:
        return bool(self.history or self.turns)

    @property
    def exchanged(self) -> "Texts":
        """Return the same texts with the two outputs swapped."""
        return replace(
            self,
            output=self.rival,
            rival=self.output,
            turns=self.rival_turns,
            rival_turns=self.turns,
        )

    @property
    def is_session(self) -> bool:
        """Whether a whole session is judged rather than one turn."""
        return len(self.turns) > 1 and not self.history

    @property
    def said(self) -> tuple[Turn, ...]:
        """The judged output as turns."""
        return self.turns or (Turn(ASSISTANT, self.output),)

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns that `{{Conversation}}` shows: the whole session, or those before the judged
        turn."""
        return self.turns if self.is_session else self.history

    @property
    def not_shown(self) -> str:
        """What a judge is never shown of these texts, as a sentence: pictures and files of turns;
        "" if there are none."""
        turns = (*self.history, *self.turns, *self.rival_turns)
        count = sum(len(turn.attachments) for turn in turns)
        if not count:
            return ""
        return f"The judge was not shown {count} attachment{'s' * (count > 1)} (pictures or files)."

    @property
    def reference(self) -> str:
        """The first reference, which prompts show; an empty text if there is none."""
        return self.references[0] if self.references else ""
