"""Load models and tokenizers by name or folder, with a clear message for whatever is wrong with
them."""

from dataclasses import dataclass
from typing import Any, Literal

from geval.evaluators.base import EvaluatorError
from geval.evaluators.neural.base import LengthLimits, NeuralSettings

ModelClass = Literal[
    "AutoModel",
    "AutoModelForCausalLM",
    "AutoModelForSeq2SeqLM",
    "AutoModelForMaskedLM",
    "AutoModelForSequenceClassification",
    "AutoModelForTokenClassification",
    "AutoModelForQuestionAnswering",
]
_IN_WORDS = {
    "AutoModel": "an encoder",
    "AutoModelForCausalLM": "a causal language model, such as DialoGPT or another GPT",
    "AutoModelForSeq2SeqLM": "an encoder-decoder model (sequence to sequence), such as BART or T5",
    "AutoModelForMaskedLM": "a masked language model, such as RoBERTa",
    "AutoModelForSequenceClassification": "a classifier of texts",
    "AutoModelForTokenClassification": "a classifier of tokens",
    "AutoModelForQuestionAnswering": "a model that answers questions from a text",
}
# A tokenizer without a limit reports a huge number.
NO_LIMIT = 10**9


@dataclass
class Loaded:
    """A model on its device, with its tokenizer and limits."""

    model: Any
    tokenizer: Any
    device: Any
    limits: LengthLimits


def load_model(name: str, kind: ModelClass, settings: NeuralSettings, *, title: str) -> Loaded:
    """Load a model for inference.

    Raises:
        EvaluatorError: it does not exist, is of another kind, or has not been trained for this; the
            message says which.
    """
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    wanted = _IN_WORDS[kind]
    try:
        config = transformers.AutoConfig.from_pretrained(name)
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model, info = getattr(transformers, kind).from_pretrained(name, output_loading_info=True)
    except (ValueError, KeyError, TypeError) as error:
        raise EvaluatorError(
            f"{title} needs {wanted}; {name!r} is of another kind ({_first_line(error)})"
        ) from error
    except Exception as error:  # files of weights can be broken in many ways
        raise EvaluatorError(
            f"{title} cannot load the model {name!r}: {_first_line(error)} Give the name of a model"
            " on the hub that this worker can reach, or a folder that holds config.json, the"
            " weights and the tokenizer."
        ) from error
    untrained = [key for key in info["missing_keys"] if not _is_spare(key)]
    if untrained and kind != "AutoModel":
        raise EvaluatorError(
            f"{title} needs {wanted}; {name!r} is a {config.model_type} model without trained"
            f" weights for that ({untrained[0]} is missing)."
        )
    device = _device(settings.device, title)
    limits = LengthLimits(
        name, settings.max_tokens or _limit(config, tokenizer), settings.over_limit == "cut"
    )
    with torch.inference_mode():
        return Loaded(model.to(device).eval(), tokenizer, device, limits)


def _is_spare(key: str) -> bool:
    """Return whether weights are tied to others, or belong to a part that is not used here."""
    return (
        key.endswith(("lm_head.weight", "embed_tokens.weight", "decoder.bias", "decoder.weight"))
        or "pooler" in key
    )


def _limit(config: Any, tokenizer: Any) -> int:
    """Return the longest input in tokens, including special tokens."""
    stated = getattr(tokenizer, "model_max_length", None) or NO_LIMIT
    positions = getattr(config, "max_position_embeddings", None) or NO_LIMIT
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # the first two positions are for padding
    if stated >= NO_LIMIT and positions >= NO_LIMIT:
        positions = getattr(config, "n_positions", None) or NO_LIMIT
    return int(min(stated, positions, NO_LIMIT))


def _device(name: str, title: str) -> Any:
    import torch

    wanted = ("cuda" if torch.cuda.is_available() else "cpu") if name == "auto" else name
    try:
        device = torch.device(wanted)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise EvaluatorError(
            f"{title} cannot use the device {name!r}: {_first_line(error)}"
        ) from error
    return device


def _first_line(error: BaseException) -> str:
    text = " ".join(str(error).split("\n")[0].split())[:300]
    return text if text.endswith((".", "!", "?")) else f"{text}."
