"""The texts of a judged item, as prompts show them. Pure, and light to import: models use it."""

from dataclasses import dataclass, replace

from geval.texts.turns import ASSISTANT, Turn


@dataclass(frozen=True)
class Texts:
    """What a judged item puts into the placeholders; `rival` is the other output where two are
    compared.

    In a conversation, `history` are the turns before what is judged, and `turns` those of the
    output, where it is more than a text; `rival_turns` are those of the other output. An output
    that is `as_read` has its posing lines quoted already (geval/texts/turns.py).
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
        """The same with the two outputs in the other order."""
        return replace(
            self,
            output=self.rival,
            rival=self.output,
            turns=self.rival_turns,
            rival_turns=self.turns,
        )

    @property
    def is_session(self) -> bool:
        """Whether a whole session is judged, not a turn of it."""
        return len(self.turns) > 1 and not self.history

    @property
    def said(self) -> tuple[Turn, ...]:
        """What is judged, as turns."""
        return self.turns or (Turn(ASSISTANT, self.output),)

    @property
    def conversation(self) -> tuple[Turn, ...]:
        """The turns that `{{Conversation}}` shows: all of a session, or those before the turn."""
        return self.turns if self.is_session else self.history

    @property
    def reference(self) -> str:
        """The first reference, which prompts show; an empty text if there is none."""
        return self.references[0] if self.references else ""
