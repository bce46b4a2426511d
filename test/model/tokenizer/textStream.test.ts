import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { readTokenizer, type Tokenizer } from "../../../src/model/tokenizer/readTokenizer.ts";
import { TextStream } from "../../../src/model/tokenizer/textStream.ts";

const FILES = ["byteLevelBpe", "byteFallbackBpe", "wordPiece", "unigram"] as const;
const REPLACE = { type: "Replace", pattern: { String: "e" }, content: "" };
const STRIP = { type: "Strip", content: " ", start: 1, stop: 1 };

/** Other decoders in the files: [name, file, decoder, whether it is local]. */
const DECODERS = [
  ["none", "wordPiece", null, true],
  ["suffixes", "unigram", { type: "BPEDecoder", suffix: "e" }, true],
  ["bytes, not joined", "byteFallbackBpe", { type: "ByteFallback" }, true],
  ["bytes in a list of lists", "byteLevelBpe", list(list({ type: "ByteLevel" }), { type: "Fuse" }, STRIP), true],
  ["replaced before they are joined", "byteFallbackBpe", list(REPLACE, { type: "ByteFallback" }, STRIP), true],
  ["replaced after they are joined", "byteLevelBpe", list({ type: "ByteLevel" }, REPLACE), false],
  ["replaced in the whole text", "unigram", list({ type: "Fuse" }, REPLACE), false],
  ["cut at the end by more than one", "unigram", list({ type: "Fuse" }, { ...STRIP, stop: 3 }), false],
  [
    "repeated ones left out",
    "wordPiece",
    { type: "CTC", pad_token: "a", word_delimiter_token: "|", cleanup: true },
    false,
  ],
] as const;

function list(...decoders: readonly object[]): object {
  return { type: "Sequence", decoders };
}

describe("TextStream", () => {
  let folder: string;
  const tokenizers: { name: string; tokenizer: Tokenizer; tokens: number }[] = [];

  const read = (name: string, file: string, change: (json: { model: object }) => object) => {
    const source = readFileSync(new URL(`../../golden/tokenizers/${file}.json`, import.meta.url), "utf8");
    const path = join(folder, "tokenizer.json");
    const json = JSON.parse(source) as { model: { vocab: object } };
    writeFileSync(path, JSON.stringify(change(json)));
    const { vocab } = json.model;
    tokenizers.push({ name, tokenizer: readTokenizer(path), tokens: Object.keys(vocab).length });
  };

  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-text-stream-"));
    for (const file of FILES) read(file, file, (json) => json);
    for (const [name, file, decoder] of DECODERS) read(name, file, (json) => ({ ...json, decoder }));
    const ended = { type: "BPEDecoder", suffix: "a" };
    read("suffix of the model", "byteLevelBpe", (json) => ({
      ...json,
      decoder: ended,
      model: { ...json.model, end_of_word_suffix: "a" },
    }));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("decodersAreLocal_unlessTheyChangeTheJoinedText", () => {
    for (const { name, tokenizer } of tokenizers) {
      const [, , , isLocal = true] = DECODERS.find(([other]) => other === name) ?? [];
      expect(tokenizer.isLocal, name).to.equal(isLocal);
    }
  });

  it("piecesOfRandomTokens_areThoseOfWholeTexts", () => {
    for (const { name, tokenizer, tokens } of tokenizers) {
      const token = fc.integer({ min: 0, max: tokens + 2 });
      // Runs of one token, and of few: spaces, bytes that are no text, special tokens.
      const run = fc.tuple(fc.array(token, { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 40 }));
      const text = fc.array(
        fc.oneof(
          fc.array(token, { maxLength: 60 }),
          run.map(([few, n]) => repeated(few, n)),
        ),
      );
      fc.assert(
        fc.property(fc.array(token, { maxLength: 60 }), text, (first, parts) => {
          const rest = parts.flat();
          const stream = new TextStream(tokenizer, first);
          const pieces = [...rest.map((one) => stream.next(one)), stream.end()];
          expect(pieces, name).to.deep.equal(wholePieces(tokenizer, first, rest));
        }),
        { numRuns: 25 },
      );
    }
  });

  it("workForAToken_doesNotGrowWithTheText", () => {
    const kinds: [string, string][] = [
      ["byteLevelBpe", "The model's tokens 🙂 日本語\n\n\n\n\n"],
      ["byteFallbackBpe", "Größe 🙂🙂🙂 日本語 zzzz    \n"],
      ["wordPiece", "the model's tokens, and it's a claim."],
      ["unigram", "The model claims tokens"],
    ];
    for (const [kind, text] of kinds) {
      const { tokenizer } = tokenizers.find(({ name }) => name === kind)!;
      const encoded = tokenizer.encode(text);
      for (const tokens of [encoded, ...encoded.map((token) => [token])]) {
        let decoded = 0;
        const counting = {
          ...tokenizer,
          decode: (all: readonly number[]) => ((decoded += all.length), tokenizer.decode(all)),
        };
        const stream = new TextStream(counting, repeated(tokens, 100));
        const works = repeated(tokens, 400 / tokens.length).map((token) => {
          decoded = 0;
          stream.next(token);
          return decoded;
        });
        expect(Math.max(...works), `${kind} ${tokens.join()}`).to.be.at.most(192);
      }
    }
  });

  it("tokensTakenAtOnce_giveTheSameText", () => {
    const { tokenizer } = tokenizers[0]!;
    const tokens = tokenizer.encode("Größe 🙂, and a text that is longer than what a stream keeps. ".repeat(4));
    const stream = new TextStream(tokenizer, tokens.slice(0, 1));
    stream.push(tokens.slice(1, 100));
    const text =
      stream.next(tokens[100]!) +
      tokens
        .slice(101)
        .map((token) => stream.next(token))
        .join("");
    expect(text + stream.end()).to.equal(tokenizer.decode(tokens).slice(tokenizer.decode(tokens.slice(0, 1)).length));
  });
});

const repeated = (tokens: readonly number[], times: number): number[] =>
  Array.from({ length: Math.ceil(times) }, () => tokens).flat();

/** The same pieces by decoding the whole text for each token. */
function wholePieces(tokenizer: Tokenizer, first: readonly number[], rest: readonly number[]): string[] {
  const shown = (count: number): string => tokenizer.decode([...first, ...rest.slice(0, count)]);
  let given = shown(0).replace(/\ufffd$/, "").length;
  const upTo = (text: string): string => {
    const added = text.slice(given);
    given = Math.max(given, text.length);
    return added;
  };
  return [...rest.map((_, k) => upTo(shown(k + 1).replace(/\ufffd$/, ""))), upTo(shown(rest.length))];
}
