"""What processes that score or read files get of the environment: what finding, loading and
computing need. Pure.

Neither a package that scores nor a file that takes over its reader has any business with the site's
keys and passwords.
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
    """The part of an environment that such a process gets: nothing secret, nothing of the site's
    own."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED_ON | _NO_SECRETS
        or (
            name.startswith(_PASSED_ON_PREFIXES)
            and not any(word in name.upper() for word in _SECRET)
        )
    }
