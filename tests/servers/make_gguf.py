"""Write a random two-layer model that llama.cpp serves; run with the Python that has the package
gguf.

python make_gguf.py MODEL.gguf
"""

import sys

import gguf
import numpy as np

SIZE, LAYERS, HEADS, INNER, CONTEXT = 32, 2, 2, 64, 1024
CONTROL = ["<unk>", "<s>", "</s>"]
BYTES = [f"<0x{number:02X}>" for number in range(256)]
LETTERS = ["▁", *map(chr, range(33, 127)), "▁the", "▁ferry", "▁sails", "ferry", "▁summary", "▁text"]


def write(path: str) -> None:
    random = np.random.default_rng(0)
    words = CONTROL + BYTES + LETTERS
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(SIZE)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(SIZE // HEADS)
    writer.add_file_type(0)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(words)
    writer.add_token_scores(
        [0.0] * (len(words) - len(LETTERS)) + [float(len(word)) for word in LETTERS]
    )
    types = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    writer.add_token_types(
        types + [gguf.TokenType.BYTE] * 256 + [gguf.TokenType.NORMAL] * len(LETTERS)
    )
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * 0.3).astype(np.float32))

    def add_ones(name: str) -> None:
        writer.add_tensor(name, np.ones(SIZE, np.float32))

    add("token_embd.weight", len(words), SIZE)
    add("output.weight", len(words), SIZE)
    add_ones("output_norm.weight")
    for layer in range(LAYERS):
        add_ones(f"blk.{layer}.attn_norm.weight")
        add_ones(f"blk.{layer}.ffn_norm.weight")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{name}.weight", SIZE, SIZE)
        add(f"blk.{layer}.ffn_gate.weight", INNER, SIZE)
        add(f"blk.{layer}.ffn_up.weight", INNER, SIZE)
        add(f"blk.{layer}.ffn_down.weight", SIZE, INNER)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
