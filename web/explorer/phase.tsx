import type { PhaseView } from "./phases.ts";

/** Where something stands, in a word or two, in the colour of its kind. */
export function Phase({ of: { text, weight } }: { of: PhaseView }) {
  return <span class={weight === "plain" ? "tag" : `tag ${weight}`}>{text}</span>;
}
