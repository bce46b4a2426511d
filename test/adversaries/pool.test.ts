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

// Each in one form with Ethereum's limits, and in the other with a rollup's.
adversarySuite("proofs too large for a pool", LARGE_PROOFS, { forms: ["trace", "answer"] });
adversarySuite("proofs too large for a rollup", LARGE_PROOFS, { make: rollup, forms: ["answer", "trace"] });
