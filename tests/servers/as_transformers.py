"""Write a GGUF model in the form that vLLM serves on a processor; run with the Python that has the
packages transformers, accelerate and gguf.

python as_transformers.py MODEL.gguf FOLDER
"""

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer


def write(source: Path, target: str) -> None:
    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    read = AutoModelForCausalLM.from_pretrained(**where)
    # Its numbers are whole ones by now, but it still says that they are not.
    del read.config.quantization_config
    whole = type(read)(read.config)
    whole.load_state_dict(read.state_dict())
    whole.save_pretrained(target)
    AutoTokenizer.from_pretrained(**where).save_pretrained(target)


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2])
