import type { Address, PublicClient } from "viem";
import { StepVerifier } from "../../chain/clients/stepVerifier.ts";
import { openable, type Execution } from "../../dispute/run/execution.ts";
import { translateError } from "../../chain/translateError.ts";
import { ZERO_HASH } from "../../chain/structs.ts";
import { RefuteError } from "../../base/errors.ts";
import { toHex, type Hash } from "../../program/merkle/hash.ts";
import { ProgramUnavailableError } from "../../runs/errors.ts";
import type { RunExecution } from "../../dispute/run/runExecution.ts";
import { dtypeBytes, readWord } from "../../numerics/dtype.ts";
import { encodeStepBody } from "../../program/encode.ts";
import type { TensorRef } from "../../program/types.ts";
import { openElement } from "../../program/trace/opening.ts";
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

/** Draws elements of any item. @param random A number in 0 .. below-1. */
export function drawSamples(
  { items, program: { model } }: Pick<RunExecution, "items" | "program">,
  count: number,
  random: (below: number) => number = (below) => Math.floor(Math.random() * below),
): Sample[] {
  const { steps } = model.program;
  return Array.from({ length: count }, () => {
    const [item, step] = [random(items), random(steps.length)];
    return { item, step, element: random(steps[step]!.count) };
  });
}

/** Does something with the execution of a job: see `Executions.use`. */
type Use = (action: (run: RunExecution) => Promise<true>) => Promise<true | undefined>;

/**
 * Has the chain recompute an execution's elements with eth_call, free of charge, item by item: memory holds only one
 * item's tensors at a time.
 * @param root The run root of the audited execution.
 * @throws SelfAuditError, RpcUnavailableError; ProgramUnavailableError if the execution is gone
 */
export async function selfAudit(
  client: PublicClient,
  verifier: Address,
  root: Hash,
  samples: readonly Sample[],
  use: Use,
): Promise<void> {
  const contract = new StepVerifier(verifier, { publicClient: client });
  for (const item of [...new Set(samples.map((sample) => sample.item))].sort((a, b) => a - b)) {
    const ofItem = samples.filter((sample) => sample.item === item);
    const audited = await use(async (run) => {
      const execution = run.item(item);
      // The item may have been executed again for the audit. The submission belongs to the run with the given root.
      if (run.runRoot !== root || run.list.node(0, item) !== execution.trace.root)
        throw new SelfAuditError(`item ${item}, executed again, has another trace; nothing was submitted`, ofItem[0]!);
      await auditItem(contract, execution, ofItem);
      return true;
    });
    if (audited === undefined) throw new ProgramUnavailableError(`the run with root ${root} cannot be executed now`);
  }
}

async function auditItem(contract: StepVerifier, execution: Execution, samples: readonly Sample[]): Promise<void> {
  const { steps } = execution.model.program;
  // All tensors are requested at once: the item is executed at most once more.
  execution.trace.require(samples.flatMap(({ step: s }) => [s, ...steps[s]!.inputs.flatMap(stepNumber)]));
  for (const sample of samples) {
    const { item, step: s, element } = sample;
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
        `item ${item}, step ${s}, element ${element}: this execution has ${own}, the chain's verifier ${exact}; ` +
          `nothing was submitted`,
        sample,
      );
    }
  }
}

const stepNumber = (ref: TensorRef): number[] => (ref.kind === "step" ? [ref.index] : []);
