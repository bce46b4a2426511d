import type { Parameters } from "../../chain/structs.ts";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { readHeader } from "../../program/header.ts";
import { requireAnswerable, requireServed } from "../requester/jobLimits.ts";

/**
 * Checks that a signed claim on a program fits on chain: otherwise nobody could refute the claim or cash a ticket for
 * it.
 * @param items Number of items in the run.
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
