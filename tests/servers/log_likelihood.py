"""The log-probability of every token of a text by llama.cpp's library itself, as JSON; run with its
Python.

python log_likelihood.py MODEL.gguf < text
"""

import json
import sys

import numpy as np
from llama_cpp import Llama

llama = Llama(sys.argv[1], n_ctx=1024, logits_all=True, verbose=False)
tokens = llama.tokenize(sys.stdin.buffer.read())
llama.eval(tokens)
logits = np.array(llama.scores[: len(tokens)], dtype=np.float64)
shares = logits - np.log(
    np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
)
shares -= logits.max(axis=1, keepdims=True)
known = [float(shares[place - 1, token]) for place, token in enumerate(tokens) if place]
pieces = [llama.detokenize([token]).hex() for token in tokens[1:]]
json.dump({"logprobs": known, "pieces": pieces}, sys.stdout)
