"""Tell from a name whether it belongs to a criterion, a person or a judge.

Pure. The lists are short on purpose: for any other name the user is asked.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache

from geval.llm.presets import presets


def words(text: str) -> frozenset[str]:
    """Split a list written as text into its words."""
    return frozenset(text.split())


class NameKind(StrEnum):
    CRITERION = "criterion"
    PERSON = "person"
    JUDGE = "judge"
    UNKNOWN = ""


CRITERIA = words(
    """
    accuracy adequacy appropriateness attribution clarity coherence completeness conciseness
    consistency correctness coverage creativity depth diversity empathy engagement engagingness
    factuality faithfulness fluency grammar grammaticality groundedness harmlessness helpfulness
    honesty informativeness instruction-following interestingness likability naturalness overall
    plausibility politeness quality readability relevance relevancy repetition safety simplicity
    specificity style tone toxicity truthfulness understandability usefulness
    genauigkeit gesamt gesamteindruck grammatik hilfreich klarheit koharenz kohaerenz konsistenz
    korrektheit lesbarkeit natuerlichkeit naturlichkeit nutzlichkeit nuetzlichkeit qualitat
    qualitaet relevanz richtigkeit stil treue verstandlichkeit verstaendlichkeit vollstandigkeit
    vollstaendigkeit flussigkeit fluessigkeit faktentreue lesefluss
    clarte coherence completude concision coherencia claridad fluidez fluidite precision pertinence
    exactitude lisibilite qualite utilite fidelite correccion exactitud relevancia pertinencia
    utilidad calidad fidelidad legibilidad coerenza chiarezza fluidita rilevanza qualita utilita
    coesao coerencia clareza fluencia qualidade utilidade
    """
)
PEOPLE = words(
    """
    adam alex alice ali amina amy ana andrea andreas andrew anja anke ann anna anne antonio ben
    bernd bert bettina bill bob boris brigitte bruno carl carla carlos carol caroline charles
    charlie chiara chloe chris christian christine claire claudia clara daniel dave david diana
    diego dirk dora elena eli elias elif elisa elise elizabeth ella emil emily emma erik erika eva
    eve fatima felix fiona francesca franz fred frida gabriel georg george giulia greta
    hanna hannah hans harry heidi helen helena henry hugo ida ines ingrid irene isabel ivan jack
    jakob james jan jana jane javier jean jens joan joe johanna john jonas jorge jose joseph juan
    judith julia julie jurgen karen karin karl kate katja kim klaus lars laura lea lena leo leon
    lina linda lisa louis luca lucas lucia lucy luis luisa lukas maja marc marco maria marie mario
    marta martin mary mateo matteo maya mei mia michael miguel mike mila mina mohamed
    monika nadia nick nico nicole nina noah nora olga oliver olivia omar oscar otto pablo paul
    paula pedro peter petra philip pierre priya rachel ralf rita robert rosa ruth sam samuel sara
    sarah sergio simon sofia sophie stefan steve susan susanne sven tanja thomas tim tina tom ulrike
    ursula uwe valentina vera victor walter wei yan yuki yusuf zoe
    """
)
PERSON = re.compile(
    r"(annotator|annotateur|anotador|bewerter|bewerterin|coder|crowd|crowdworker|evaluador|"
    r"evaluateur|evaluator|expert|experte|expertin|grader|gutachter|human|humain|humano|labell?er|"
    r"mensch|participant|person|proband|rater|reviewer|student|turker|user|worker)s?[ _.-]?\w?\d*"
    r"|[ahpr][ _-]?\d+"
)
JUDGE_FAMILY = re.compile(
    r"(gpt|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|palm|phi|grok|command|"
    r"prometheus|autoj|llm|ai|ki|ia|model|judge|geval|g-eval|unieval|bertscore|moverscore|"
    r"bartscore|gptscore|rouge|bleu|bleurt|comet|meteor|chrf|ter|questeval|summac|sari)"
    r"([0-9.]+(?:[a-z]\d*)?)?"
)
JUDGE_VERSION = re.compile(
    r"\d[\w.]*|[a-z]|v\d[\w.]*|f1|lsum|l|mini|nano|turbo|large|small|medium|instruct|chat|pro|"
    r"flash|lite|sonnet|opus|haiku|preview|latest|exp|eval|judge|r|plus|base|score|precision|recall"
)
# Words in a column's name that only say that its cells are ratings.
NOISE = words(
    """
    score scores rating ratings value values points label labels verdict verdicts
    bewertung note punkte nota wertung
    """
)
# Words in the name of a column of pass and fail, or yes and no, that say that these are ratings.
JUDGED = NOISE | words("correct pass passed valid acceptable ok good judgement judgment grade")
# Names of a column of people's labels and of one of a judge's, which tell only beside each other.
LABELS_OF_PEOPLE = words("human gold label expert annotation ground_truth reference_label")
# The same with a number or a letter: without one, such a column names who rated the row.
NUMBERED_PEOPLE = words("annotator coder grader labeler labeller rater reviewer")
LABELS_OF_JUDGES = words("judge verdict prediction llm evaluator")
MEANS = words(
    "mean avg average median mittel mittelwert durchschnitt moyenne media majority consensus final"
)


def folded(name: str) -> str:
    """Normalise a name for comparing: lower case without accents."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"\s+", " ", plain or name).strip().lower()


@dataclass(frozen=True)
class KnownNames:
    """The names in a project, which are recognised in addition to the usual ones; `columns` are the
    meanings that columns of its earlier files had, by their names in plain spelling."""

    criteria: Collection[str] = ()
    annotators: Collection[str] = ()
    judges: Collection[str] = ()
    more: dict[str, NameKind] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def _kinds(self) -> dict[str, NameKind]:
        kinds = {preset.name: NameKind.CRITERION for preset in presets()}
        for names, kind in (
            (self.criteria, NameKind.CRITERION),
            (self.annotators, NameKind.PERSON),
            (self.judges, NameKind.JUDGE),
        ):
            kinds |= {folded(name): kind for name in names}
        return kinds

    def kind_of(self, name: str) -> NameKind:
        plain = folded(name)
        if plain in self._kinds:
            return self._kinds[plain]
        parts = re.split(r"[\s_\-./]+", plain)
        if plain in CRITERIA or (len(parts) > 1 and set(parts) <= CRITERIA):
            return NameKind.CRITERION
        if is_judge_like(name):
            return NameKind.JUDGE
        if PERSON.fullmatch(plain) or re.split(r"[\s\-]", plain)[0] in PEOPLE:
            return NameKind.PERSON
        return NameKind.UNKNOWN


def is_judge_like(name: str) -> bool:
    """Return whether a name looks like a model's or a metric's, such as gpt-4o or ROUGE-L."""
    plain = folded(name)
    if plain in ("g-eval", "geval"):
        return True
    parts = [part for part in re.split(r"[\s_\-./:]+", plain.replace("g-eval", "geval")) if part]
    return (
        bool(parts)
        and JUDGE_FAMILY.fullmatch(parts[0]) is not None
        and all(JUDGE_VERSION.fullmatch(part) or JUDGE_FAMILY.fullmatch(part) for part in parts[1:])
    )


@lru_cache(maxsize=4096)
def is_mean(name: str) -> bool:
    """Return whether a name, or a part of a column's, says that it is a mean of others."""
    return folded(name) in MEANS


def without_noise(name: str) -> str:
    """Return a part of a column's name without words such as “score”; unchanged if nothing is
    left."""
    kept = [word for word in re.split(r"([\s_\-.]+)", name) if folded(word) not in NOISE]
    return "".join(kept).strip(" _-.") or name
