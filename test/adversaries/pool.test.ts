import { Arena } from "../../testkit/adversaries/arena.ts";
import { LARGE_PROOFS } from "../../testkit/adversaries/largeProofs.ts";
import { adversarySuite } from "../../testkit/adversaries/suite.ts";
import { ROLLUP_MAX_BYTES } from "../../testkit/nodes/poolRules.ts";

/** An arena on a rollup, whose sequencer takes smaller transactions. */
async function rollup(): Promise<Arena> {
  const arena = await Arena.create();
  await arena.players.limitTransactions(ROLLUP_MAX_BYTES);
  return arena;
}

adversarySuite("proofs too large for a pool", LARGE_PROOFS);
adversarySuite("proofs too large for a rollup", LARGE_PROOFS, rollup);
