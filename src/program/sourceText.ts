import type { InputSource, Program } from "./types.ts";

/** A name, and where items take it from or which of them have it, for people: `x (each item's)`. */
const withNote = (name: string, note: string | undefined): string => (note === undefined ? name : `${name} (${note})`);

/**
 * The inputs of a program, each with where the items of a run take it from if it is not shared.
 * @param texts What is said of each input.
 */
export const inputTexts = ({ inputs }: Program, texts: readonly string[]): string[] =>
  texts.map((text, k) => withNote(text, inputs[k]?.source && SOURCES[inputs[k].source.kind](inputs[k].source)));

/** The outputs of a program, each with a note if every item has it. @param texts What is said of each output. */
export const outputTexts = ({ each = [] }: Program, texts: readonly string[]): string[] =>
  texts.map((text, k) => withNote(text, each.includes(k) ? "each item's" : undefined));

const SOURCES: Record<InputSource["kind"], (source: InputSource) => string | undefined> = {
  shared: () => undefined,
  each: () => "each item's",
  index: () => "the item's number",
  carried: (source) => (source.kind === "carried" ? `carried from checkpoint ${source.checkpoint}` : undefined),
};
