"""Writes the tokenizers of test/model/tokenizer, and what Hugging Face's own library (Rust) makes of texts.

python make.py, with the package tokenizers 0.22.2
"""
import json
import random

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "A decoder is a language model that takes one token and what it remembers of the tokens before it.",
    "The worker makes a claim in this order: model, program, tensors, trace, claim on chain.",
    "Show before you explain: a picture, an output, ten lines of code. I'm sure we don't, and it's 1234.56 tokens!",
    "Größe, Äpfel, naïve café. 日本語のテキスト, 中文. 🙂🙃 emoji.",
]
TEXTS = [
    "Hello, world", " leading space", "The model's tokens don't fit: 12,345!", "two  spaces\n\nand lines\t",
    "Größe naïve café", "日本語 and 中文", "🙂 emoji 👩‍👩‍👧 end", "", "a", "unseen żółć",
    "<|endoftext|>text after<|endoftext|>", "ends with space ",
]


def write(name, tokenizer):
    tokenizer.save(f"{name}.json", pretty=False)
    texts = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        texts.append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids)})
    draw = random.Random(1)
    sequences = []
    for _ in range(12):
        ids = [draw.randrange(tokenizer.get_vocab_size()) for _ in range(draw.randrange(1, 12))]
        sequences.append({"ids": ids, "decoded": tokenizer.decode(ids)})
    with open(f"{name}.cases.json", "w") as file:
        json.dump({"texts": texts, "sequences": sequences}, file, ensure_ascii=False)


# As GPT-2 has it.
t = Tokenizer(models.BPE())
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
t.decoder = decoders.ByteLevel()
t.post_processor = processors.ByteLevel(trim_offsets=False)
alphabet = pre_tokenizers.ByteLevel.alphabet()
t.train_from_iterator(
    CORPUS, trainers.BpeTrainer(vocab_size=400, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet)
)
write("byteLevelBpe", t)

# As LLaMA has it: spaces as another character, unknown characters as bytes, a token that begins each text.
t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
t.train_from_iterator(CORPUS[:-1], trainers.BpeTrainer(vocab_size=420, special_tokens=special))
t.decoder = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)
t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
plain = json.loads(t.to_str())
plain["added_tokens"] = [token for token in plain["added_tokens"] if not token["content"].startswith("<0x")]
write("byteFallbackBpe", Tokenizer.from_str(json.dumps(plain)))

# As BERT has it.
t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
t.normalizer = normalizers.BertNormalizer(lowercase=True)
t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
t.decoder = decoders.WordPiece(prefix="##")
t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=350, special_tokens=["[UNK]", "[CLS]", "[SEP]"]))
write("wordPiece", t)

# As T5 has it.
t = Tokenizer(models.Unigram())
t.normalizer = normalizers.Sequence([normalizers.NFKC()])
t.pre_tokenizer = pre_tokenizers.Metaspace()
t.decoder = decoders.Metaspace()
special = ["<pad>", "</s>", "<unk>"]
t.train_from_iterator(CORPUS, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>"))
t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
write("unigram", t)
