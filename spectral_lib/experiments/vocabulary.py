"""A WordPiece vocabulary, and text as a stream of its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNKNOWN, START, SEPARATOR, MASK = range(len(SPECIAL))

#: The characters of the vocabulary: printable ASCII in lower case. Others become ``[UNK]``.
LETTERS = tuple(c for c in map(chr, range(ord("!"), ord("~") + 1)) if not c.isupper())


def train_vocabulary(texts: Sequence[str], size: int) -> list[str]:
    """Return the ``size`` pieces of a lower-case WordPiece vocabulary, as BERT's, of the texts.

    The trainer numbers characters in the order in which a hash table yields them and breaks ties
    between equally frequent pairs by these numbers, so that two runs differ. Here every character
    and its continuation get their numbers first, as special tokens, and no other character is
    shown: the same texts give the same vocabulary always.
    """
    from tokenizers import trainers

    tokenizer = wordpiece(SPECIAL)
    trainer = trainers.WordPieceTrainer(
        vocab_size=size,
        special_tokens=[*SPECIAL, *LETTERS, *(f"##{letter}" for letter in LETTERS)],
        show_progress=False,
    )
    normalize = tokenizer.normalizer.normalize_str
    shown = [re.sub(r"[^!-~]", " ", normalize(text)) for text in texts]
    tokenizer.train_from_iterator(shown, trainer)
    vocabulary = tokenizer.get_vocab()
    return sorted(vocabulary, key=vocabulary.__getitem__)


def wordpiece(pieces: Sequence[str]) -> Tokenizer:
    """Return the tokenizer of a vocabulary, given by its pieces in order."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    numbers = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token=SPECIAL[UNKNOWN]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def encode(tokenizer: Tokenizer, texts: Iterable[str]) -> np.ndarray:
    """Return the texts as one stream of token numbers, uint16, ``[SEP]`` after each text."""
    encoded = tokenizer.encode_batch(list(texts), add_special_tokens=False)
    return np.concatenate([np.array([*text.ids, SEPARATOR], dtype=np.uint16) for text in encoded])
