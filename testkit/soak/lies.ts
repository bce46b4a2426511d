import { executeReference } from "../../src/executor/reference.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import type { RunExecution } from "../../src/dispute/run/runExecution.ts";
import type { Prng } from "../random/prng.ts";
import { executedRun, heldRun, itemsOf } from "./executedRun.ts";
import type { SoakProgram } from "./programs.ts";

/** Other bytes than these: one bit, one random byte, zeros, or noise. */
export function mutated(prng: Prng, bytes: Uint8Array): Uint8Array {
  const out = Uint8Array.from(bytes);
  const at = prng.below(bytes.length);
  switch (prng.below(4)) {
    case 0:
      out.fill(0);
      break;
    case 1:
      for (let k = 0; k < out.length; k++) out[k] = prng.below(256);
      break;
    case 2:
      out[at] = prng.below(256);
      break;
    default:
  }
  if (Buffer.compare(out, bytes) === 0) out[at]! ^= 1 << prng.below(8);
  return out;
}

/** A wrong execution. */
export type LieKind = "bit" | "tensor" | "patched" | "input";

/** A run that is wrong in one item: continued consistently after the lie, or patched afterwards. */
export function lyingRun(prng: Prng, program: SoakProgram, kind: LieKind): RunExecution {
  const { known, right } = program;
  const { steps } = known.model.program;
  const [lieItem, lieStep] = [prng.below(right.items), prng.below(steps.length)];
  if (kind === "patched")
    return executedRun(program, (item) =>
      steps.map((_, s) => {
        const tensor = right.item(item).trace.tensor(s);
        return item === lieItem && s === lieStep ? mutated(prng, tensor) : Uint8Array.from(tensor);
      }),
    );
  if (kind === "input") {
    const wrong = prng.below(known.model.program.inputs.length);
    return executedRun(program, (item, inputs) =>
      executeReference(
        known.model,
        inputs.map((bytes, k) => (item === lieItem && k === wrong ? otherInput(prng, program, item, k) : bytes)),
      ),
    );
  }
  return executedRun(program, (item, inputs) =>
    executeReference(known.model, inputs, {
      onStep: (step, tensor) => {
        if (item !== lieItem || step !== lieStep) return;
        if (kind === "bit") tensor[prng.below(tensor.length)]! ^= 1 << prng.below(8);
        else tensor.set(mutated(prng, tensor));
      },
    }),
  );
}

/** Another tensor in place of an item's input: another item's, or changed bytes. */
function otherInput(prng: Prng, { right }: SoakProgram, item: number, input: number): Uint8Array {
  const own = right.item(item).inputs[input]!;
  const other = right.item(prng.below(right.items)).inputs[input]!;
  return prng.below(2) === 0 && Buffer.compare(own, other) !== 0 ? other : mutated(prng, own);
}

/**
 * Returns right tensors under a wrong root. The garbage lies past the width of the item list, or of an item's
 * checkpoint list. Returns undefined if the list is full.
 */
export function paddedWithGarbage(prng: Prng, program: SoakProgram): RunExecution | undefined {
  const executions = itemsOf(executedRun(program));
  const { list } = heldRun(program, executions);
  if (list.width > 1 && prng.below(2) === 0) {
    const padded = withGarbage(prng, list);
    return padded && heldRun(program, executions, { traces: padded });
  }
  const { trace } = prng.pick(executions);
  const padded = withGarbage(prng, trace.list);
  if (padded === undefined) return undefined;
  Object.assign(trace, { list: padded });
  return heldRun(program, executions);
}

function withGarbage(prng: Prng, list: MerkleList): MerkleList | undefined {
  const leaves = 2 ** list.depth;
  if (list.width === leaves) return undefined;
  const garbage = (): `0x${string}` => toHex(Uint8Array.from({ length: 32 }, () => prng.below(256)));
  const nodes = Array.from({ length: leaves }, (_, j) => (j < list.width ? list.node(0, j) : garbage()));
  return MerkleList.fromHashes(nodes);
}
