/** Reasons why operators have no gradient rule. Each says what the user can do instead. */
import type { Gradient } from "./gradient.ts";

const refused = (why: string): Gradient => ({ refused: why });

export const STEPS = refused(
  "it is not differentiable: it is constant but where it jumps; leave it out of what is trained",
);
export const QUANTISED = refused(
  "it is not differentiable: its numbers are quantised; train before quantising, or freeze what is before",
);
export const DISCRETE = refused("it is not differentiable: its results are whole numbers or truth values");
export const CONSTANT = refused(
  "it is not differentiable: its elements depend on no floats, or on bounds only; make them a constant",
);
export const DRAWN = refused("it is not differentiable: it draws; add noise that is drawn apart, and scale it");
export const TREES = refused(
  "it is not differentiable: trees have steps; train what comes after them, or freeze what is before",
);
export const SEQUENCE = refused("sequences have no gradient rule: use Split and Concat");
export const OPTIONAL = refused("optionals have no gradient rule: export the model with the value itself");
