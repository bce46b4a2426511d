import type { InputSource, Program } from "./types.ts";

/** Returns a name with a note for people, about the input's source or the output's items: `x (each item's)`. */
const withNote = (name: string, note: string | undefined): string => (note === undefined ? name : `${name} (${note})`);

/**
 * Returns the texts for a program's inputs, with a note on the source of each unshared input.
 * @param texts A text about each input.
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
