import { GameDriver } from "../../../testkit/protocol/gameDriver.ts";
import { lyingTrace, chainProgram } from "../../../testkit/protocol/chainProgram.ts";
import { claimKey, createWorld, gasOf, submitted } from "../../../testkit/protocol/world.ts";

/** Measures the gas for the ways to end a game without a proof, and for the following calls, on a small program. */
export async function endingsGas(): Promise<{ call: string; gas: number }[]> {
  const world = await createWorld();
  const { worker, watcher, mallory, requester, networkHelpers, parameters } = world;
  const subject = chainProgram(300, [3, 1, 5]);
  const trace = lyingTrace(subject, 6, 299);
  const claim = await submitted(world, subject, trace);
  const [dropped, late, waiting, last] = [mallory, watcher, requester, worker].map(
    (challenger) => new GameDriver(world, subject, trace, claim, challenger),
  ) as [GameDriver, GameDriver, GameDriver, GameDriver];
  for (const game of [dropped, late, waiting, last]) await game.open();
  await late.reveal();
  await dropped.concede(mallory);
  const collected = await world.game.write.collect([claimKey(world, claim)]);
  await networkHelpers.time.increase(2 * parameters.baseClock);
  await waiting.timeout(requester);
  await late.settle(mallory);
  await last.settle(mallory);
  return [
    ...[dropped, waiting, late]
      .map(({ gas }) => gas.at(-1)!)
      .map(({ move, gas }) => ({ call: move, gas: Number(gas) })),
    { call: "settle, the last of a claim", gas: Number(last.gas.at(-1)!.gas) },
    { call: "collect", gas: Number(await gasOf(world, collected)) },
  ];
}
