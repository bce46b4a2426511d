import { Tokenizer as LibraryTokenizer } from "@huggingface/tokenizers";
import { readRegularFile, type FileError } from "../../base/regularFile.ts";
import { TokenizerError } from "./errors.ts";

/** Texts as tokens, and back. */
export type Tokenizer = {
  /**
   * Returns a text's tokens, including the tokens that the file puts around each text, such as a start token.
   * @param isBare Without those tokens: the text has them, for example from a chat template.
   * @throws TokenizerError if a part of the text has no token
   */
  encode: (text: string, isBare?: boolean) => number[];
  /** Returns the text of tokens. Special tokens, and tokens missing from the file, give no text. */
  decode: (tokens: readonly number[]) => string;
  /** Whether the file has a token. */
  isKnown: (token: number) => boolean;
  /** Whether a token takes part in a text: special tokens, and tokens missing from the file, do not. */
  hasText: (token: number) => boolean;
  /** Whether the text of a token depends only on the characters shortly before it, not on the whole text. */
  isLocal: boolean;
  /** Bytes of UTF-8 of the longest token: a text has at least its bytes divided by them, as tokens. */
  longest: number;
};

/** The used parts of the library. The library's own types import files without endings, and cannot be found. */
type Library = {
  encode: (text: string, options: { add_special_tokens: boolean }) => { ids: number[] };
  decode: (
    tokens: number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ) => string;
  id_to_token: (token: number) => string | undefined;
  all_special_ids: number[];
};
/** A decoder of the file, or a list of decoders. */
type DecoderStep = { type: string; stop?: number; decoders?: DecoderStep[] };
/** The file's parts for this reader. */
type Parts = {
  model: { vocab: Record<string, number> | [string, number][] };
  decoder?: DecoderStep | null;
  added_tokens?: { content: string }[] | null;
};
const LibraryClass = LibraryTokenizer as unknown as new (tokenizer: object, config: object) => Library;

/** The largest known ones, of 256,000 tokens, have some 35 MB. */
const MAX_BYTES = 2 ** 28;

/**
 * Reads a `tokenizer.json` in the format of the library `tokenizers`.
 * @throws TokenizerError, which names the file
 */
export function readTokenizer(path: string): Tokenizer {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(path, MAX_BYTES);
  } catch (cause) {
    throw new TokenizerError(`${path} ${(cause as FileError).message}: expected a tokenizer.json`, { cause });
  }
  return tokenizerOf(path, bytes);
}

/** Reads the bytes of a `tokenizer.json`. @param path For messages. @throws TokenizerError */
export function tokenizerOf(path: string, bytes: Uint8Array): Tokenizer {
  const refused = (why: string, cause: unknown): TokenizerError =>
    new TokenizerError(`${path} ${why}: expected a tokenizer.json`, { cause });
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw refused("is no text", cause);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw refused("is no JSON document", cause);
  }
  const { model } = (json ?? {}) as { model?: { vocab?: unknown; byte_fallback?: unknown } };
  if (typeof model?.vocab !== "object") throw refused('has no "model" with a "vocab"', undefined);
  // Only Unigram's vocabulary is a list. The library has byte_fallback in BPE only, and would drop signs in Unigram.
  if (Array.isArray(model.vocab) && model.byte_fallback === true)
    throw new TokenizerError(
      `${path} is of the kind Unigram with byte_fallback, which is not read: tokenize outside, and give token numbers`,
    );
  try {
    return opened(path, json as object);
  } catch (cause) {
    throw refused(`cannot be used (${(cause as Error).message})`, cause);
  }
}

function opened(path: string, json: object): Tokenizer {
  const parts = { added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  const library = new LibraryClass({ ...parts, ...json }, {});
  // The library reads parts of the file only on their first use.
  const using = <T>(action: () => T): T => {
    try {
      return action();
    } catch (cause) {
      const { message } = cause as Error;
      throw new TokenizerError(`${path} cannot be used (${message}): expected a tokenizer.json`, { cause });
    }
  };
  const { model, decoder, added_tokens: added } = json as Parts;
  const listed = Array.isArray(model.vocab) ? model.vocab.map(([token]) => token) : Object.keys(model.vocab);
  const tokens = [...listed, ...(added ?? []).map(({ content }) => content)];
  const longest = tokens.reduce((most, token) => Math.max(most, Buffer.byteLength(String(token))), 1);
  const isKnown = (token: number): boolean => library.id_to_token(token) !== undefined;
  const special = new Set(library.all_special_ids);
  return {
    longest,
    isKnown,
    isLocal: isLocal(stepsOf(decoder)),
    hasText: (token) => isKnown(token) && !special.has(token),
    encode: (text, isBare = false) => {
      const ids: number[] = using(() => library.encode(text, { add_special_tokens: !isBare }).ids);
      if (ids.every((id) => Number.isSafeInteger(id) && id >= 0)) return ids;
      throw new TokenizerError(`${path} has no token for a part of the text ${JSON.stringify(text)}`);
    },
    decode: (tokens) => {
      const known = tokens.filter(isKnown);
      // Only what the file's own decoder does: a text is not tidied beyond it.
      const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
      return known.length === 0 ? "" : using(() => library.decode(known, options));
    },
  };
}

const stepsOf = (decoder: DecoderStep | null | undefined): DecoderStep[] =>
  decoder?.type === "Sequence" ? (decoder.decoders ?? []).flatMap(stepsOf) : decoder ? [decoder] : [];

/** Steps on single tokens, then steps that join characters of neighbours, then cuts at the ends of a text. */
const LOCAL = /^((Replace|Metaspace|WordPiece|BPEDecoder) )*((ByteFallback|ByteLevel) )?(Fuse )?(Strip )*$/;

const isLocal = (steps: readonly DecoderStep[]): boolean =>
  LOCAL.test(steps.map(({ type }) => `${type} `).join("")) && steps.every(({ stop = 0 }) => stop <= 1);
