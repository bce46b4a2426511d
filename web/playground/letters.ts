/** The characters that the sample of texts knows: a space stands for all others. */
export const LETTERS = " abcdefghijklmnopqrstuvwxyz.";

/** Characters that it looks at. */
export const WINDOW = 12;

/** A text as the sample takes it: small letters, one space for all between words. */
export const codesOf = (text: string): number[] =>
  [...text.toLowerCase().replace(/[^a-z.]+/g, " ")].map((letter) => LETTERS.indexOf(letter));

/** The end of a text, in as many codes as the sample looks at. */
export function windowOf(text: string): number[] {
  const codes = codesOf(text).slice(-WINDOW);
  return [...Array.from({ length: WINDOW - codes.length }, () => 0), ...codes];
}
