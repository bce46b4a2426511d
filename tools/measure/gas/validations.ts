import { zeroHash } from "viem";
import { apartAnswers } from "../../../testkit/programs/answerPrograms.ts";
import { RUN_STEPS } from "../../../testkit/programs/runProgram.ts";
import { landed, promised } from "../../../testkit/protocol/pledgeWorld.ts";
import { RunGame } from "../../../testkit/protocol/runGame.ts";
import { AGENT, askValidator, validatorWorld } from "../../../testkit/protocol/validatorWorld.ts";
import { gasOf } from "../../../testkit/protocol/world.ts";
import { answerOf } from "../../../testkit/soak/answerRuns.ts";
import type { AttestationGas } from "./attestations.ts";

/** Measures the answers of the validator to agents, with a registry that is written from ERC-8004's text. */
export async function validationsGas(): Promise<AttestationGas[]> {
  const world = await validatorWorld();
  const program = apartAnswers("two");
  const honest = answerOf(program, 1);
  const liar = answerOf(program, 1, { item: 0, step: RUN_STEPS.last, element: 3 });
  const { claim } = await landed(world, await promised(world, honest));
  await world.networkHelpers.time.increase(3_000);
  await world.claims.write.finalise([claim]);
  const lie = await landed(world, await promised(world, liar));
  const game = new RunGame(world, lie, honest);
  await game.prove(await game.proof());
  const rows: AttestationGas[] = [];
  for (const [transaction, of] of [
    ["report, a final claim", claim],
    ["report, a refuted claim", lie.claim],
  ] as const) {
    await askValidator(world, of);
    const hash = await world.validator.write.report([AGENT, of, zeroHash], { account: world.stranger.account });
    rows.push({ transaction, gas: Number(await gasOf(world, hash)) });
  }
  return rows;
}
