import type { Parameters } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { readHeader } from "../../program/header.ts";
import { requireAnswerable, requireServed } from "../requester/jobLimits.ts";

/**
 * Checks that a signed claim about a program can be put on chain: else nobody could refute it, and no ticket about it
 * be cashed.
 * @param items Of the run.
 * @throws JobProgramError
 */
export function requireClaimable(
  parameters: Pick<Parameters, "maxStepGas" | "maxStepBytes" | "maxWork">,
  { commitment: { header } }: Pick<KnownProgram, "commitment">,
  items: number,
): void {
  const facts = readHeader(header);
  requireServed(parameters, facts, header.length, items);
  requireAnswerable(facts, items);
}
