"""The stream cipher behind the draws: the published test vector, and the same key stream from the plain and the compiled code."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.engine.draws.chacha import chacha20_blocks, key_stream
from discreet.engine.draws.chacha_kernels import fill_bits, fill_uniform
from discreet.engine.draws.draw import _MIN_COMPILED, KeyedDraw

# RFC 8439, section 2.3.2: key 00..1f, block count 1, nonce 00:00:00:09:00:00:00:4a:00:00:00:00
RFC_BLOCK = (
    "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
    "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
)
RFC_KEY = np.frombuffer(bytes(range(32)) + bytes.fromhex("0000004a00000000"), dtype="<u4").astype(np.uint32)
RFC_COUNTER = int.from_bytes(bytes.fromhex("0100000000000009"), "little")


def test_a_block_is_the_test_vector_of_the_rfc_in_plain_and_in_compiled_code() -> None:
    plain = chacha20_blocks(RFC_KEY, np.array([RFC_COUNTER], dtype=np.uint64))
    assert plain.astype("<u8").tobytes().hex() == RFC_BLOCK
    compiled = np.empty(8, dtype=np.uint64)
    fill_bits(np.arange(8) + RFC_COUNTER * 8, RFC_KEY, compiled)
    assert compiled.astype("<u8").tobytes().hex() == RFC_BLOCK


records = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), max_size=60)


@given(records, st.integers(0, 400), st.integers(-20, 20))
def test_plain_and_compiled_code_give_the_same_key_stream(numbers: list[int], run: int, first: int) -> None:
    records_ = np.concatenate(
        [np.array(numbers, dtype=np.int64), np.arange(first, first + run), np.array(numbers[::-1], dtype=np.int64)]
    )
    expected = key_stream(RFC_KEY, records_)
    bits, uniform = np.empty(len(records_), dtype=np.uint64), np.empty(len(records_))
    fill_bits(records_, RFC_KEY, bits)
    fill_uniform(records_, RFC_KEY, uniform)
    assert (bits == expected).all()
    assert (uniform == (expected >> np.uint64(11)).astype(np.float64) * 2.0**-53).all()


@pytest.mark.parametrize("step", [1, -1, 3])
@pytest.mark.parametrize("distribution", ["bits", "uniform", "normal"])
def test_long_tables_draw_the_same_numbers_as_short_ones(distribution: str, step: int) -> None:
    draw = getattr(KeyedDraw(11, 2), distribution)
    records_ = (np.random.default_rng(3).integers(-(2**62), 2**62, 3 * _MIN_COMPILED + 5))[::step]
    if step == 3:
        records_ = records_.astype(np.int32)
    whole = draw(np.concatenate([records_, records_]), "x")
    parts = np.concatenate([draw(part, "x") for part in np.array_split(records_, 9)])
    assert whole.tobytes() == parts.tobytes() * 2


def test_a_small_table_is_masked_without_loading_the_compiler() -> None:
    script = (
        "import sys, numpy, discreet; from discreet.engine.draws.draw import KeyedDraw; KeyedDraw(7).normal(numpy.arange(500));"
        "from discreet.testing import hospital; from discreet.engine.draws.fingerprint import table_fingerprint;"
        "table_fingerprint(hospital(300), bytes(32)); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_bits_are_uniform_in_every_byte_and_differ_between_neighbours() -> None:
    bits = KeyedDraw(bytes(range(32)), 1, "noise").bits(np.arange(200_000), "income")
    assert len(np.unique(bits)) == len(bits)
    for byte in range(8):
        counts = np.bincount(((bits >> np.uint64(8 * byte)) & np.uint64(255)).astype(np.int64), minlength=256)
        expected = len(bits) / 256
        assert ((counts - expected) ** 2 / expected).sum() < 360  # chi-squared, 255 degrees of freedom: one in 100,000
    changed = np.unpackbits((bits[1:] ^ bits[:-1]).view(np.uint8)).mean()
    assert abs(changed - 0.5) < 0.001


def test_a_key_does_not_appear_in_the_repr() -> None:
    assert "secret" not in repr(KeyedDraw(b"secret" + bytes(26), 3))
