import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { TokenizerError } from "../../../src/model/tokenizer/errors.ts";
import { readTokenizer } from "../../../src/model/tokenizer/readTokenizer.ts";
import { TextStream } from "../../../src/model/tokenizer/textStream.ts";

/** What Hugging Face's own library in Rust gives (test/golden/tokenizers/make.py). */
type Cases = {
  texts: { text: string; ids: number[]; decoded: string }[];
  sequences: { ids: number[]; decoded: string }[];
};

const fileOf = (name: string): string => new URL(`../../golden/tokenizers/${name}`, import.meta.url).pathname;
const casesOf = (name: string): Cases => JSON.parse(readFileSync(fileOf(`${name}.cases.json`), "utf8")) as Cases;

const streamed = (name: string, ids: readonly number[], first = 0): string => {
  const stream = new TextStream(readTokenizer(fileOf(`${name}.json`)), ids.slice(0, first));
  return [...ids.slice(first).map((id) => stream.next(id)), stream.end()].join("");
};

describe("tokenizers, against the library in Rust", () => {
  for (const name of ["byteLevelBpe", "byteFallbackBpe", "wordPiece", "unigram"]) {
    const { texts, sequences } = casesOf(name);
    const tokenizer = readTokenizer(fileOf(`${name}.json`));

    it(`${name}_tokensOfTexts_areThose`, () => {
      for (const { text, ids } of texts) expect(tokenizer.encode(text), text).to.deep.equal(ids);
    });

    it(`${name}_textsOfTokens_areThose`, () => {
      for (const { ids, decoded } of [...texts, ...sequences])
        // Of bytes that are no text the library in Rust replaces more than it must.
        if (name !== "byteFallbackBpe" || !decoded.includes("\ufffd"))
          expect(tokenizer.decode(ids), ids.join()).to.equal(decoded);
    });

    it(`${name}_piecesOfAText_areTheText`, () => {
      for (const { ids } of [...texts, ...sequences])
        expect(streamed(name, ids), ids.join()).to.equal(tokenizer.decode(ids));
    });
  }

  it("unigramWithByteFallback_isRefused_andLosesNoSign", () => {
    const folder = mkdtempSync(join(tmpdir(), "refute-tokenizer-"));
    const path = join(folder, "tokenizer.json");
    const json = JSON.parse(readFileSync(fileOf("unigram.json"), "utf8")) as { model: object };
    writeFileSync(path, JSON.stringify({ ...json, model: { ...json.model, byte_fallback: true } }));
    expect(() => readTokenizer(path)).to.throw(TokenizerError, "byte_fallback");
    rmSync(folder, { recursive: true });
  });

  it("piecesAfterAPrompt_areWhatFollowsIt", () => {
    const { encode, decode } = readTokenizer(fileOf("byteFallbackBpe.json"));
    const ids = encode("a token and a claim");
    for (let first = 0; first <= ids.length; first++)
      expect(decode(ids.slice(0, first)) + streamed("byteFallbackBpe", ids, first)).to.equal("a token and a claim");
  });

  it("characterOfSeveralTokens_isInThePieceOfTheLast", () => {
    const tokenizer = readTokenizer(fileOf("byteFallbackBpe.json"));
    const stream = new TextStream(tokenizer, []);
    const pieces = tokenizer.encode("é🙂").map((id) => stream.next(id));
    expect(pieces.filter((piece) => piece !== "")).to.deep.equal(["é", "🙂"]);
    expect(stream.end()).to.equal("");
  });

  it("unfinishedCharacter_isGivenAtTheEnd", () => {
    const tokenizer = readTokenizer(fileOf("byteFallbackBpe.json"));
    const cut = tokenizer.encode("a🙂").slice(0, -1);
    expect(streamed("byteFallbackBpe", cut))
      .to.equal(tokenizer.decode(cut))
      .and.to.match(/^a\ufffd+$/);
  });

  it("tokensThatTheFileDoesNotHave_giveNoText", () => {
    const tokenizer = readTokenizer(fileOf("byteLevelBpe.json"));
    const ids = tokenizer.encode("claim");
    expect(tokenizer.decode([...ids, 100_000])).to.equal("claim");
    expect(tokenizer.decode([100_000])).to.equal("");
  });
});

describe("files that are no tokenizers", () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), "refute-"))));
  after(() => rmSync(folder, { recursive: true }));

  for (const [what, content, message] of [
    ["bytes", Buffer.from([0xff, 0xfe, 0]), "is no text"],
    ["noJson", "{", "is no JSON document"],
    ["null", "null", 'has no "model" with a "vocab"'],
    ["noModel", '{"version": "1.0"}', 'has no "model" with a "vocab"'],
    ["anUnknownPart", '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "decoder": {"type": "X"}}', "Unknown"],
  ] as const)
    it(`${what}_isRefused`, () => {
      const path = join(folder, `${what}.json`);
      writeFileSync(path, content);
      expect(() => readTokenizer(path))
        .to.throw(TokenizerError, message)
        .with.property("message")
        .contains(path);
    });

  it("fileThatIsNotThere_isRefused", () =>
    expect(() => readTokenizer(join(folder, "none.json"))).to.throw(TokenizerError, "none.json"));
});
