"""Is the byte map GPT-2's?"""

from __future__ import annotations

from maskwright.tokenizers import bytes_to_unicode, unicode_to_bytes
from maskwright.tokenizers.byte_map import from_byte_map
from tokenizers import pre_tokenizers


def test_the_map_is_the_alphabet_of_another_implementation() -> None:
    assert set(unicode_to_bytes()) == set(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(unicode_to_bytes().values()) == list(range(256))


def test_each_byte_is_mapped_as_another_implementation_does() -> None:
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in (chr(code) for code in range(1, 0x250)):
        mapped = byte_level.pre_tokenize_str(text)[0][0]
        assert [unicode_to_bytes()[c] for c in mapped] == list(text.encode())
        assert from_byte_map(mapped) == text.encode()


def test_the_two_directions_are_inverse() -> None:
    assert {byte: character for character, byte in unicode_to_bytes().items()} == bytes_to_unicode()


def test_one_character_outside_the_map_makes_the_whole_token_utf8() -> None:
    for outside in (" ", "\n", "\x7f", "\x80", "\xa0", "\xad", "ń", "日", "😀"):
        token = "Ġé" + outside
        assert from_byte_map(token) == token.encode()
