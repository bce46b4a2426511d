import { hexToBytes, type Hex } from "viem";
import { ZERO_HASH } from "../../chain/structs.ts";
import type { HeldInputs } from "../executions.ts";
import { readHeader } from "../../program/header.ts";
import { RunInputError, RunInputs } from "../../program/trace/runInputs.ts";

/**
 * Inputs that are not on chain, from somewhere on this machine: a ledger, or the files of a poster.
 * @param find The bytes of inputs with a root, if they are held.
 */
export function heldInputs(find: (inputsRoot: Hex) => readonly Uint8Array[] | undefined): HeldInputs {
  const of: HeldInputs["of"] = ({ job, program }) => {
    const bytes = find(job.inputsRoot);
    if (bytes === undefined) return undefined;
    try {
      const inputs = new RunInputs(readHeader(hexToBytes(program.header)).inputs, job, bytes);
      const root = inputs.roots.length === 0 ? ZERO_HASH : inputs.list.root;
      // SAFETY: the chain's own root decides: another program may take the same bytes in another way.
      return root === job.inputsRoot ? inputs : undefined;
    } catch (error) {
      if (error instanceof RunInputError) return undefined;
      throw error;
    }
  };
  return { of };
}
