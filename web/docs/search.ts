import type { Section } from "./sections.ts";

/** A piece of a text, and whether it is one of the words that were looked for. */
type Piece = { text: string; isWord: boolean };
export type Found = { section: Section; excerpt: Piece[] };

/** Characters of an excerpt before the first word that was found, and in all. */
const BEFORE = 60;
const EXCERPT = 220;

/** What a word counts in a heading, and in the title of a page. */
const IN_HEADING = 20;
const IN_TITLE = 10;

/**
 * The sections that have all words of a question, the best first: words in headings count more than those below them.
 * @param max How many are given at most
 */
export function search(sections: readonly Section[], question: string, max: number): Found[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, max)
    .map(({ section }) => ({ section, excerpt: excerptOf(section.text, words) }));
}

/** 0 if a word is missing. */
function scoreOf({ heading, text, depth }: Section, words: readonly string[]): number {
  const [high, low] = [heading.toLowerCase(), text.toLowerCase()];
  const scores = words.map((word) => {
    const inHeading = high.includes(word) ? IN_HEADING + (depth === 1 ? IN_TITLE : 0) : 0;
    return inHeading + Math.log2(low.split(word).length);
  });
  if (scores.includes(0)) return 0;
  // A long section has many words of every kind.
  return scores.reduce((sum, score) => sum + score, 0) / Math.log2(256 + low.length);
}

/** A part of a text without what is cut of words at its ends. */
function wholeWords(text: string, from: number, to: number): string {
  const cut = text.slice(from, to);
  const begun = from === 0 ? cut : `… ${cut.replace(/^\S*\s/, "")}`;
  return to >= text.length ? begun : `${begun.replace(/\s\S*$/, "")} …`;
}

function excerptOf(text: string, words: readonly string[]): Piece[] {
  const low = text.toLowerCase();
  const places = words.map((word) => low.indexOf(word)).filter((place) => place !== -1);
  const from = Math.max(0, Math.min(...places, low.length) - BEFORE);
  const start = places.length === 0 ? 0 : from;
  const cut = wholeWords(text, start, start + EXCERPT);
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return cut
    .split(new RegExp(`(${escaped.join("|")})`, "i"))
    .map((piece, k) => ({ text: piece, isWord: k % 2 === 1 }))
    .filter(({ text: piece }) => piece !== "");
}
