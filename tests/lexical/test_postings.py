"""Keys of texts and the lists of blocks that hold them, against plain sets."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vacmcpd.adapters.container import Damaged
from vacmcpd.adapters.lexical.postings import (
    Gathering,
    Index,
    Lists,
    Packer,
    joined,
    moved,
)
from vacmcpd.adapters.lexical.trigrams import ODD_FOLD, keys_of_literal, keys_of_text

texts = st.lists(
    st.sampled_from([b"a", b"B", b"b", b"\n", b"\r\n", b"\0", b"\xc3\xa9", b"\xc5\xbf", b"k"])
).map(b"".join)


def three_byte_strings(text):
    return {text[at : at + 3] for at in range(len(text) - 2)}


def expected_keys(text):
    folded = {piece.lower() for piece in three_byte_strings(text)}
    written = {piece for piece in three_byte_strings(text) if piece != piece.lower()}
    whole = {piece for piece in folded | written if not set(piece) & {0, 10, 13}}
    keys = {int.from_bytes(piece, "big") for piece in whole}
    odd = b"\xc5\xbf" in text or b"\xe2\x84\xaa" in text
    return sorted(keys | ({ODD_FOLD} if odd else set()))


@given(texts)
def test_a_text_has_its_folded_keys_and_those_with_capitals_as_written(text):
    assert keys_of_text(text).tolist() == expected_keys(text)


def test_a_line_longer_than_a_piece_loses_no_key():
    text = b"x" * ((1 << 20) - 1) + b"NewHandler" + b"y" * (1 << 20) + b"tail"
    assert keys_of_text(text).tolist() == expected_keys(text)


def test_a_literal_asks_for_no_key_across_a_line_end():
    assert keys_of_literal(b"ab\ncde") == (int.from_bytes(b"cde", "big"),)
    assert keys_of_literal(b"ab") == ()


def lists_of(sets):
    """What an index of blocks with these keys holds, as a dictionary."""
    found = {}
    for block, keys in enumerate(sets):
        for key in keys:
            found.setdefault(key, []).append(block)
    return dict(sorted(found.items()))


def read(lists):
    ends = np.cumsum(lists.counts).tolist()
    return {
        key: lists.blocks[end - count : end].tolist()
        for key, count, end in zip(lists.keys.tolist(), lists.counts.tolist(), ends, strict=True)
    }


def gathered(sets):
    gathering = Gathering()
    for keys in sets:
        gathering.add(np.array(sorted(keys), np.uint32))
    return gathering.lists()


def packed(pieces, blocks):
    packer = Packer(blocks)
    sparse = b"".join(packer.sparse(pieces))
    dense, terms = b"".join(packer.dense()), b"".join(packer.terms())
    return Index(memoryview(terms), memoryview(sparse), memoryview(dense), blocks)


block_sets = st.lists(st.sets(st.integers(70_000, 70_030), max_size=20), max_size=70)


@settings(max_examples=200, deadline=None)
@given(block_sets)
def test_what_is_packed_is_read_again_list_by_list_and_whole(sets):
    index = packed(gathered(sets), len(sets))
    expected = lists_of(sets)
    assert read(index.lists(0, 1 << 32)) == expected
    for key, blocks in expected.items():
        (place,) = index.places([key])
        if index.is_dense(place):
            bits = np.unpackbits(index.bits(place), bitorder="little")
            assert np.flatnonzero(bits).tolist() == blocks
        else:
            assert index.numbers(place).tolist() == blocks
    assert index.places([1]) is None


@settings(max_examples=100, deadline=None)
@given(st.lists(block_sets, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_joined_lists_are_those_of_all_blocks_that_are_kept(parts, random):
    pieces, kept_sets, start = [], [], 0
    for sets in parts:
        keep = [random.random() < 0.7 for _ in sets]
        numbers = np.where(keep, np.cumsum(keep) - 1 + start, -1).astype(np.int64)
        start += sum(keep)
        kept_sets += [keys for keys, kept in zip(sets, keep, strict=True) if kept]
        index = packed(gathered(sets), len(sets))
        pieces.append(moved(index.lists(0, 1 << 32), numbers))
    assert read(joined(pieces)) == lists_of(kept_sets)


def test_lists_of_many_runs_and_chunks_are_whole(monkeypatch):
    monkeypatch.setattr("vacmcpd.adapters.lexical.postings._RUN", 50)
    monkeypatch.setattr("vacmcpd.adapters.lexical.postings._CHUNK", 200)
    rng = np.random.default_rng(7)
    sets = [set(rng.integers(1000, 1400, 60).tolist()) for _ in range(90)]
    pieces = list(gathered(sets))
    assert len(pieces) > 3
    together = {}
    for piece in pieces:
        together.update(read(piece))
    assert together == lists_of(sets)
    index = packed(iter(pieces), len(sets))
    edges = index.edges()
    assert len(edges) > 3
    again = {}
    for low, high in pairwise(edges):
        again.update(read(index.lists(low, high)))
    assert again == lists_of(sets)


def test_nothing_gathered_is_nothing_packed():
    index = packed(gathered([]), 0)
    assert index.places([5]) is None
    assert index.edges() == [0, 1 << 32]


@pytest.mark.parametrize("section", [0, 1])
def test_a_flipped_bit_in_a_list_is_refused_when_it_is_read(section):
    sets = [{100, 200} if block % 20 == 0 else {100} for block in range(64)]
    packer = Packer(64)
    sparse = bytearray(b"".join(packer.sparse(gathered(sets))))
    dense, terms = bytearray(b"".join(packer.dense())), b"".join(packer.terms())
    [sparse, dense][section][0] ^= 4
    index = Index(memoryview(terms), memoryview(bytes(sparse)), memoryview(bytes(dense)), 64)
    for key in (100, 200):
        (place,) = index.places([key])
        reader = index.bits if index.is_dense(place) else index.numbers
        if index.is_dense(place) == bool(section):
            with pytest.raises(Damaged):
                reader(place)
        else:
            reader(place)


@pytest.mark.parametrize("cut", ["terms", "sparse", "dense"])
def test_lists_that_are_cut_are_refused_at_once(cut):
    sets = [{100, 200} if block % 20 == 0 else {100} for block in range(64)]
    packer = Packer(64)
    sections = {"sparse": b"".join(packer.sparse(gathered(sets)))}
    sections["dense"], sections["terms"] = b"".join(packer.dense()), b"".join(packer.terms())
    sections[cut] = sections[cut][:-1]
    with pytest.raises(Damaged):
        Index(*(memoryview(sections[name]) for name in ("terms", "sparse", "dense")), 64)


def test_moving_nothing_away_changes_only_the_numbers():
    lists = Lists(np.array([5], np.uint32), np.array([2], np.uint32), np.array([0, 1], np.uint16))
    assert read(moved(lists, np.array([3, 9], np.int64))) == {5: [3, 9]}
