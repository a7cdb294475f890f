"""Every kind of tokenizer, one file each, and the bytes of its token ids."""

from maskwright.tokenizers.byte_map import bytes_to_unicode, unicode_to_bytes
from maskwright.tokenizers.dispatch import vocab_bytes

__all__ = ["bytes_to_unicode", "unicode_to_bytes", "vocab_bytes"]
