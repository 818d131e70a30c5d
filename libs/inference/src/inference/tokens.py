"""Tokens as the embedding model counts them. Needs `tokenizers`, not onnxruntime."""

import hashlib
from importlib.resources import files

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from inference.errors import ModelFileChanged
from inference.unicode import encodable

# Characters. No vocabulary has longer pieces in running text; limits how much of a text of many megabytes is tokenized.
LONGEST_TOKEN = 100
MINILM_VOCAB_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def load_minilm_tokenizer() -> Tokenizer:
    """Returns the tokenizer of all-MiniLM-L6-v2, which neither truncates nor pads.

    Takes about 50 ms; load it once and hand it down. Raises ModelFileChanged.
    """
    vocab = files("inference").joinpath("models", "minilm_vocab.txt").read_bytes()
    if hashlib.sha256(vocab).hexdigest() != MINILM_VOCAB_SHA256:
        raise ModelFileChanged("minilm_vocab.txt")
    ids = {piece: index for index, piece in enumerate(vocab.decode().removesuffix("\n").split("\n"))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))  # noqa: S106  not a secret
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    tokenizer.decoder = decoders.WordPiece(prefix="##")
    return tokenizer


def count_tokens(tokenizer: Tokenizer, text: str) -> int:
    """Counts the tokens of `text`, without the special tokens that an encoder adds (two for MiniLM)."""
    return len(tokenizer.encode(encodable(text), add_special_tokens=False).ids)
