import type { PhaseView } from "./phases.ts";

/** Where something stands, in a word or two: what is disputed or wrong is loud. */
export function Phase({ of: { text, weight } }: { of: PhaseView }) {
  return <span class={weight === "plain" ? "tag" : `tag ${weight}`}>{text}</span>;
}
