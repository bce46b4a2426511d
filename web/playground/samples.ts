import { LETTERS, windowOf } from "./letters.ts";
import { SIDE } from "./digit.ts";
import type { InputFile } from "./messages.ts";

/** A model that the page brings along, with an input to begin with. */
export type Sample = {
  name: "iris" | "digit" | "letter";
  title: string;
  about: string;
  /** The model's only input. */
  input: string;
  /** What the positions of its output mean. */
  labels: readonly string[];
};

export const SAMPLES: readonly Sample[] = [
  {
    name: "iris",
    title: "A flower",
    about: "Which iris is it, by four lengths? Two nodes, 288 bytes.",
    input: "features",
    labels: ["setosa", "versicolor", "virginica"],
  },
  {
    name: "digit",
    title: "A digit that you draw",
    about: "Two layers that learned handwritten digits.",
    input: "picture",
    labels: [..."0123456789"],
  },
  {
    name: "letter",
    title: "The next letter of a text",
    about: "A small language model: it learned English from this documentation.",
    input: "codes",
    labels: [...LETTERS].map((letter) => (letter === " " ? "space" : letter)),
  },
];

export const sampleNamed = (name: string | undefined): Sample | undefined => SAMPLES.find((each) => each.name === name);

/** A tensor as the page hands inputs over: nested lists. */
const inputFile = (name: string, lists: unknown): InputFile => ({
  name: `${name}.json`,
  bytes: new TextEncoder().encode(JSON.stringify(lists)),
});

/** The lengths of a flower, centimetres. */
export const irisFile = (lengths: readonly number[]): InputFile => inputFile("features", [lengths]);

/** A picture of a digit, row by row, from 0 to 1. */
export const digitFile = (pixels: readonly number[]): InputFile =>
  inputFile("picture", [
    [Array.from({ length: SIDE }, (_, row) => pixels.slice(row * SIDE, (row + 1) * SIDE).map(Math.fround))],
  ]);

/** The end of a text. */
export const letterFile = (text: string): InputFile => inputFile("codes", [windowOf(text)]);

/** The likeliest meanings of a sample's output. @param values As they are shown. */
export function likeliest({ labels }: Sample, values: readonly string[]): { label: string; share: number }[] {
  return labels
    .map((label, k) => ({ label, share: Number(values[k] ?? "0") }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 3);
}
