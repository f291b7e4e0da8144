"""The environment variables that processes for scoring or reading files get: those needed for
finding, loading and computing. Pure.

Neither a scoring package nor a file that compromises its reader may see the site's keys and
passwords.
"""

from collections.abc import Mapping

_PASSED_ON = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TMPDIR",
        "TEMP",
        "TMP",
        "VIRTUAL_ENV",
        "NLTK_DATA",
    }
    | {"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NO_PROXY", "no_proxy", "SACREBLEU"}
)
_PASSED_ON_PREFIXES = (
    "LC_", "PYTHON", "LD_", "DYLD_", "XDG_", "OMP_", "MKL_", "OPENBLAS_", "NUMEXPR_",
    "CUDA_", "NVIDIA_", "ROCR_", "HIP_", "TORCH_", "PYTORCH_", "TRANSFORMERS_", "TOKENIZERS_",
    "HF_", "HUGGINGFACE_",
)  # fmt: skip
_SECRET = ("TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL")
_NO_SECRETS = frozenset({"HF_TOKEN_PATH", "TOKENIZERS_PARALLELISM"})


def passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the part of an environment that such a process gets: no secrets, none of the site's
    settings."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON | _NO_SECRETS
        or (
            name.startswith(_PASSED_ON_PREFIXES)
            and not any(word in name.upper() for word in _SECRET)
        )
    }
