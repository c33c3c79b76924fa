"""The vocabulary: the pieces in their order, and text through them and back."""

import numpy as np
import pytest

from spectral_lib.experiments.vocabulary import (
    LETTERS,
    SEPARATOR,
    SPECIAL,
    encode,
    train_vocabulary,
    wordpiece,
)

TEXTS = ("the norm of the matrix is the norm of its rows; a norm is a norm.", "Rows, columns: x_1")


@pytest.fixture(scope="module")
def pieces():
    return train_vocabulary(TEXTS * 3, 160)


def test_special_pieces_come_first_and_every_letter_has_one(pieces):
    assert tuple(pieces[: len(SPECIAL)]) == SPECIAL
    assert {*LETTERS, *(f"##{letter}" for letter in LETTERS)} <= set(pieces)
    assert "norm" in pieces


def test_text_survives_the_way_into_numbers_and_back(pieces):
    tokenizer = wordpiece(pieces)
    stream = encode(tokenizer, TEXTS)
    assert stream.dtype == np.uint16
    ends = np.flatnonzero(stream == SEPARATOR)
    assert ends.size == len(TEXTS)
    assert ends[-1] == stream.size - 1
    back = [tokenizer.decode(part) for part in np.split(stream, ends + 1)[:-1]]
    squeezed = [text.replace(" ", "") for text in back]
    assert squeezed == [text.lower().replace(" ", "") for text in TEXTS]


def test_a_character_that_is_not_ascii_is_unknown(pieces):
    numbers = encode(wordpiece(pieces), ["a ∞ b"])
    assert [pieces[number] for number in numbers] == ["a", "[UNK]", "b", "[SEP]"]
