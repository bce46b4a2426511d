import { RefuteError, errorWithCode } from "../base/errors.ts";

/** A program that no circuit is made of: a step that the compiler of circuits does not know, or a limit. */
export class CircuitRefusalError extends RefuteError {
  readonly code = "CIRCUIT_REFUSED";
  /** The number of the step; undefined if the program as a whole is refused. */
  readonly step: number | undefined;
  readonly why: string;

  constructor(why: string, step?: number, origin?: Origin) {
    super(step === undefined ? `no circuit: ${why}` : `no circuit: step ${step}${originText(origin)}: ${why}`);
    [this.step, this.why] = [step, why];
  }

  /** The same refusal, with the step that computes. */
  at(step: number, origin: Origin | undefined): CircuitRefusalError {
    return new CircuitRefusalError(this.why, step, origin);
  }
}

/** The node that a step computes. */
type Origin = { node: string; operator: string };

const originText = (origin: Origin | undefined): string =>
  origin === undefined ? "" : ` (${origin.operator}${origin.node === "" ? "" : `, node ${origin.node}`})`;

/** A value spans more bits than one field element has room for. A coarser unit may help. */
export class SpanError extends CircuitRefusalError {
  override at(step: number, origin: Origin | undefined): SpanError {
    return new SpanError(this.why, step, origin);
  }
}

/** Inputs without a proof: outside their declared domain, or on the way a value finer than the unit assumed. */
export class NoProofError extends errorWithCode("NO_PROOF") {}
