"""Tiny models with random weights, made here and saved to disk, so that the real loading code loads
them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from geval.evaluators.base import Item
from geval.llm.item_texts import Texts

torch = pytest.importorskip(
    "torch", reason="torch is not installed: make test-neural installs and runs these"
)
transformers = pytest.importorskip(
    "transformers", reason="transformers is not installed: see make test-neural"
)

WORDS = [
    "the",
    "a",
    "ferry",
    "boat",
    "ship",
    "sails",
    "leaves",
    "at",
    "noon",
    "in",
    "morning",
    "from",
    "old",
    "harbour",
    "city",
    "was",
    "is",
    "not",
    "late",
    "early",
    "seven",
    "eight",
    "people",
    "rain",
    "wind",
    "captain",
    "said",
    "that",
    "question",
    "summary",
    "document",
    "claim",
    "reference",
    "response",
    "fact",
    "paragraph",
    "dialogue",
    "history",
    "Yes",
    "No",
    "yes",
    "no",
    "sea",
    "port",
    "why",
    "when",
    "where",
    "who",
    ",",
    ".",
    "?",
    ":",
    "<",
    "/",
    ">",
    "s",
]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
LIMIT = 48


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Make a model of a kind, once: bert, mlm, classifier, tokens, answers, bart, gpt, t5."""
    made: dict[str, str] = {}
    root = tmp_path_factory.mktemp("models")

    def make(kind: str) -> str:
        if kind not in made:
            folder = root / kind
            torch.manual_seed(len(kind))
            model, tokenizer = MAKERS[kind]()
            sharpen(model)
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            made[kind] = str(folder)
        return made[kind]

    return make


def sharpen(model: Any) -> None:
    """Larger weights than fresh ones, so that outputs differ and a wrong mask shows."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)


def word_tokenizer(
    *, begin: str, end: str, pad: str, unknown: str, more: tuple[str, ...] = ()
) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = [pad, unknown, begin, end, *more]
    vocabulary = {word: index for index, word in enumerate(dict.fromkeys([*special, *WORDS]))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        pair=f"{begin} $A {end} $B:1 {end}:1",
        special_tokens=[(begin, vocabulary[begin]), (end, vocabulary[end])],
    )
    return tokenizer


def bert_tokenizer() -> Any:
    tokenizer = word_tokenizer(
        begin="[CLS]", end="[SEP]", pad="[PAD]", unknown="[UNK]", more=("[MASK]",)
    )
    return transformers.BertTokenizerFast(
        tokenizer_object=tokenizer, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]", model_max_length=LIMIT,
    )  # fmt: skip


def bert_like(model_class: str, **config: Any) -> tuple[Any, Any]:
    tokenizer = bert_tokenizer()
    settings = transformers.BertConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=LIMIT,
        type_vocab_size=2,
        **SIZES,
        **config,
    )
    return getattr(transformers, model_class)(settings), tokenizer


def bart() -> tuple[Any, Any]:
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=word_tokenizer(begin="<s>", end="</s>", pad="<pad>", unknown="<unk>"),
        bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>",
        model_max_length=LIMIT,
    )  # fmt: skip
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48,
        max_position_embeddings=LIMIT,
        pad_token_id=0, bos_token_id=2, eos_token_id=3, decoder_start_token_id=3,
        forced_eos_token_id=3,
    )  # fmt: skip
    return transformers.BartForConditionalGeneration(config), tokenizer


def gpt() -> tuple[Any, Any]:
    """As GPT-2 and DialoGPT: one mark for the end of a text, no mark for padding, and no marks that
    the tokenizer adds."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: index for index, word in enumerate(["<end>", "<unk>", *WORDS])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<end>", unk_token="<unk>", model_max_length=LIMIT
    )
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer), n_positions=LIMIT, n_embd=32, n_layer=2, n_head=4,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config), tokenizer


def t5() -> tuple[Any, Any]:
    from tokenizers import processors

    inner = word_tokenizer(begin="<s>", end="</s>", pad="<pad>", unknown="<unk>")
    inner.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 3)]
    )
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_max_length=LIMIT,
    )
    config = transformers.T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
        pad_token_id=0,
        eos_token_id=3, decoder_start_token_id=0,
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config), tokenizer


MAKERS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bert": lambda: bert_like("BertModel"),
    "mlm": lambda: bert_like("BertForMaskedLM"),
    "classifier": lambda: bert_like(
        "BertForSequenceClassification",
        id2label={0: "CORRECT", 1: "INCORRECT"},
        label2id={"CORRECT": 0, "INCORRECT": 1},
    ),
    "tokens": lambda: bert_like("BertForTokenClassification", num_labels=2),
    "answers": lambda: bert_like("BertForQuestionAnswering"),
    "bart": bart,
    "gpt": gpt,
    "t5": t5,
}

# Of different lengths, so that batches are padded.
OUTPUTS = (
    "the ferry sails at noon",
    "boat",
    "a ship leaves the old harbour at seven in the morning , people said .",
    "the captain was late . the wind was not .",
    "rain , rain , rain",
)
SOURCE = "the captain said that the ferry leaves the old harbour at noon . people was early ."
REFERENCES = (
    "the ferry leaves at noon",
    "a boat sails from the city port at noon , the captain said",
)


@pytest.fixture
def items() -> list[Item]:
    return [
        Item(
            Texts(SOURCE, output, "the wind was early", REFERENCES),
            "coherence",
            "Is it good ?",
            output_id=index,
        )
        for index, output in enumerate(OUTPUTS)
    ]


@pytest.fixture
def loaded(tiny: Callable[[str], str]) -> Callable[..., Any]:
    """An evaluator on a tiny model, loaded."""

    def load(evaluator: type, kind: str, **settings: Any) -> Any:
        made = evaluator({"model": tiny(kind), **settings})
        made.load()
        return made

    return load


@pytest.fixture
def by_hand(tiny: Callable[[str], str]) -> Callable[[str, str], tuple[Any, Any]]:
    """A model and its tokenizer as transformers gives them, to compute a formula with one text at a
    time."""

    def load(kind: str, model_class: str) -> tuple[Any, Any]:
        folder = Path(tiny(kind))
        model = getattr(transformers, model_class).from_pretrained(folder).eval()
        return model, transformers.AutoTokenizer.from_pretrained(folder)

    return load
