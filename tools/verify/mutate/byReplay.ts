import type { Recording } from "../replay/calls.ts";
import { listen } from "../replay/listen.ts";
import type { Group, Replay } from "../replay/replay.ts";
import { coinbaseOf } from "./alive.ts";

/** A mutant is tried on calls up to this sum of their gas and this number of them. */
const GAS_OF_A_MUTANT = 60_000_000n;
const MAX_CALLS_OF_A_MUTANT = 200;
/** How many calls of a test each round replays. A test ends after a round in which no call was wanted. */
const ROUNDS = [4, 8, 16, 32, 64, 128, 256];
/** A call that takes so many times its recorded gas under a mutant is taken to run for ever. */
const GAS_FACTOR = 10n;
/** Mutants that are tried before their verdicts are printed. */
const BATCH = 500;

type Passing = { calls: number[]; gas: bigint };
const wantsMore = ({ calls, gas }: Passing): boolean => calls.length < MAX_CALLS_OF_A_MUTANT && gas < GAS_OF_A_MUTANT;

type Verdict = { killer?: string; tests: number; milliseconds: number };

/**
 * Tries mutants of contracts without state on recorded calls. It first finds which calls execute which mutants. Each
 * mutant is then tried on the calls that execute it, from as many tests as possible, up to the first call with another
 * outcome.
 */
export async function replayMutants(
  replay: Replay,
  recording: Recording,
  ids: readonly number[],
  seed: number,
): Promise<Map<number, Verdict>> {
  const gas = new Map<number, bigint>();
  const passing = new Map<number, Passing>(ids.map((id) => [id, { calls: [], gas: 0n }]));
  let useless = 0;
  await listen(replay, recording, coinbaseOf(0), seed, ROUNDS, ({ call, gas: own, places }) => {
    gas.set(call, own);
    if (own === 0n) useless++;
    if (own === 0n) return false;
    // An expensive call is kept only for a mutant that no other call executes.
    const isCheap = own <= GAS_OF_A_MUTANT / 10n;
    const wanting = [...places]
      .flatMap((id) => passing.get(id) ?? [])
      .filter((mutant) => (isCheap ? wantsMore(mutant) : mutant.calls.length === 0));
    for (const mutant of wanting) {
      mutant.calls.push(call);
      if (isCheap) mutant.gas += own;
    }
    return wanting.length > 0;
  });
  for (const { calls } of passing.values()) calls.sort((a, b) => Number(gas.get(a)! - gas.get(b)!));
  console.log(`${gas.size} calls, of which ${useless} have another outcome in the copy`);
  const limit = (call: number): bigint => GAS_FACTOR * gas.get(call)! + 1_000_000n;
  const verdicts = new Map<number, Verdict>();
  for (let from = 0; from < ids.length; from += BATCH) {
    const begun = performance.now();
    const batch = ids.slice(from, from + BATCH);
    const groups = batch.map((id): Group => ({
      coinbase: coinbaseOf(id),
      attempts: passing.get(id)!.calls.map((call) => ({ call, gasLimit: limit(call) })),
    }));
    const firsts = await replay.compare(groups);
    const milliseconds = Math.round((performance.now() - begun) / batch.length);
    batch.forEach((id, k) => {
      const first = firsts[k];
      const killer = first === undefined ? {} : { killer: recording.calls[passing.get(id)!.calls[first]!]!.test };
      verdicts.set(id, { ...killer, tests: passing.get(id)!.calls.length, milliseconds });
    });
    console.log(`${verdicts.size} of ${ids.length} tried, ${milliseconds} ms each`);
  }
  return verdicts;
}
