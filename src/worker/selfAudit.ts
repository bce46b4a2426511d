import type { Address, PublicClient } from "viem";
import { StepVerifier } from "../chain/clients/stepVerifier.ts";
import { openable, type Execution } from "../player/execution.ts";
import { translateError } from "../chain/translateError.ts";
import { ZERO_HASH } from "../chain/structs.ts";
import { RefuteError } from "../errors.ts";
import { toHex } from "../merkle/hash.ts";
import { dtypeBytes, readWord } from "../numerics/dtype.ts";
import { encodeStepBody } from "../program/encode.ts";
import type { TensorRef } from "../program/types.ts";
import { openElement } from "../trace/opening.ts";
import type { Sample } from "./failedAudits.ts";

/** The chain's verifier and the worker's execution disagree: submitting would lose the collateral. */
export class SelfAuditError extends RefuteError {
  readonly code = "SELF_AUDIT";
  /** Where they disagree. */
  readonly sample: Sample;

  constructor(message: string, sample: Sample) {
    super(message);
    this.sample = sample;
  }
}

/**
 * Has the chain recompute random elements of an execution, free of charge, by eth_call.
 * @param random A number in 0 .. below-1.
 * @param again Elements that are recomputed besides, and first.
 * @throws SelfAuditError, RpcUnavailableError
 */
export async function selfAudit(
  client: PublicClient,
  verifier: Address,
  execution: Execution,
  samples: number,
  random: (below: number) => number = (below) => Math.floor(Math.random() * below),
  again: readonly Sample[] = [],
): Promise<void> {
  const contract = new StepVerifier(verifier, { publicClient: client });
  const { steps } = execution.model.program;
  const drawn = Array.from({ length: samples }, (): Sample => {
    const step = random(steps.length);
    return { step, element: random(steps[step]!.count) };
  });
  const all = [...again, ...drawn];
  // Asked for all at once, so that the job is executed at most once more.
  execution.trace.require(all.flatMap(({ step: s }) => [s, ...steps[s]!.inputs.flatMap(stepNumber)]));
  for (const { step: s, element } of all) {
    const step = steps[s]!;
    const inputs = step.inputs.map((ref) => openable(execution, ref));
    const { openings } = openElement(step, element, inputs);
    const roots = step.inputs.map((ref, i) => (ref.kind === "constant" ? ZERO_HASH : inputs[i]!.tree().root));
    const body = toHex(encodeStepBody(step));
    const exact = await contract.evaluate(body, BigInt(element), roots, openings).catch((error: unknown) => {
      throw translateError(error, "self-audit");
    });
    const bits = dtypeBytes(step.dtype) * 8;
    const own = readWord(execution.trace.tensor(s), element, step.dtype);
    if (BigInt.asUintN(bits, exact) !== BigInt.asUintN(bits, own)) {
      throw new SelfAuditError(
        `step ${s}, element ${element}: this execution has ${own}, the chain's verifier ${exact}; ` +
          `nothing was submitted`,
        { step: s, element },
      );
    }
  }
}

const stepNumber = (ref: TensorRef): number[] => (ref.kind === "step" ? [ref.index] : []);
