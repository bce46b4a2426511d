import { RefuteError, errorWithCode } from "../base/errors.ts";

/** A program without a circuit: because of a step unknown to circuits, or a limit. */
export class CircuitRefusalError extends RefuteError {
  readonly code = "CIRCUIT_REFUSED";
  /** The step's number; undefined for the whole program. */
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

/** A value spans too many bits for the field. A coarser unit may help. */
export class SpanError extends CircuitRefusalError {
  override at(step: number, origin: Origin | undefined): SpanError {
    return new SpanError(this.why, step, origin);
  }
}

/** Inputs without a proof: outside the declared domain, or with intermediate values finer than the assumed unit. */
export class NoProofError extends errorWithCode("NO_PROOF") {}

/** A file without a proving key, or with a damaged key. */
export class KeyFileError extends errorWithCode("KEY_FILE") {}

/** A file without the points of a first phase, or with too few. */
export class PowersFileError extends errorWithCode("POWERS_FILE") {}

/** A file without a proof. */
export class ProofFileError extends errorWithCode("PROOF_FILE") {}
