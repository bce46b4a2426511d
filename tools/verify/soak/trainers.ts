import { Arena } from "../../../testkit/adversaries/arena.ts";
import { dishonestTrainers } from "../../../testkit/adversaries/training.ts";
import { trainable } from "../../../testkit/models/trainable.ts";
import { Prng } from "../../../testkit/random/prng.ts";

/** Optimisers with a state. */
const OPTIMISERS = ["momentum", "nesterov", "adagrad", "adam"] as const;
/** Items of a job, at most. */
const MAX_ITEMS = 24;

/**
 * Plays dishonest workers in training runs, for `rounds` rounds: each liar lies in a random item, in a job with random
 * length, optimiser and rate, on an embedded chain with an honest watcher.
 * @returns Whether each liar was refuted by a proof, and lost the collateral to the watcher
 */
export async function soakTrainers(rounds: number, seed: number): Promise<boolean> {
  const programs = OPTIMISERS.map((optimiser) => trainable({ loss: "crossEntropy", optimiser }));
  const prng = new Prng(seed);
  const arena = await Arena.create();
  await arena.startWatcher(programs.map(({ program }) => program));
  let [played, wrong] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    const items = 2 + prng.below(MAX_ITEMS - 1);
    const which = prng.below(OPTIMISERS.length);
    const lie = { trained: programs[which]!, items, item: 1 + prng.below(items - 1), rate: (1 + prng.below(32)) / 128 };
    for (const adversary of dishonestTrainers(lie)) {
      const verdict = await adversary.attack(arena);
      await arena.calm();
      played++;
      if (verdict === adversary.expected) continue;
      wrong++;
      console.log(`${adversary.name}, ${OPTIMISERS[which]}, item ${lie.item} of ${items}: ${verdict}`);
    }
    console.log(`${played} dishonest trainers, ${wrong} not refuted`);
  }
  await arena.close();
  return wrong === 0;
}
