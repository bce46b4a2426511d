/** Words that stand for a noun, or join nouns. Many such words turn a sentence into a riddle. */
const PRONOUNS = new Set(
  "of that which what those one it its whose whoever such so as is here there beside this these them".split(" "),
);
/** Shorter sentences are labels. */
const MIN_WORDS = 9;
const COMMENTS = /\/\*\*([^]*?)\*\/|(?:^[ \t]*\/\/\/[^\n]*\n)+|(?:^[ \t]*\/\/[^\n]*\n)+/gm;

/** Returns the sentences of a source file's comments, each on a separate line. */
export function commentSentences(text: string): string[] {
  return [...text.matchAll(COMMENTS)].flatMap(([comment]) =>
    comment
      .replace(/\s*\n\s*(\*|\/\/\/|\/\/)?\s?/g, " ")
      .replace(/^\s*(\/\*\*|\/\/\/|\/\/)\s*|\s*\*\/$/g, "")
      .split(/(?<=[.:;]) /),
  );
}

/** Returns the share of pronouns among a sentence's words; undefined for a sentence with fewer than nine words. */
export function pronounShare(sentence: string): number | undefined {
  const words = sentence.match(/[A-Za-z'`]+/g) ?? [];
  if (words.length < MIN_WORDS) return undefined;
  return words.filter((word) => PRONOUNS.has(word.toLowerCase())).length / words.length;
}
