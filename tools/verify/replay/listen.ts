import type { Hex } from "viem";
import { shuffled, type Recording } from "./calls.ts";
import type { Heard, Replay } from "./replay.ts";

/**
 * Replays calls of each test, in random order, and hands on the points that they report. A test ends after a round in
 * which no call was wanted.
 * @param rounds How many calls of a test are replayed, round by round.
 * @param take Whether a call was wanted.
 */
export async function listen(
  replay: Replay,
  recording: Recording,
  coinbase: Hex,
  seed: number,
  rounds: readonly number[],
  take: (heard: Heard) => boolean,
): Promise<void> {
  let tests = [...shuffled(recording, seed).values()];
  for (const size of rounds) {
    const round = Array.from({ length: size }, (_, k) => tests.flatMap((own) => own.slice(k, k + 1))).flat();
    if (round.length === 0) return;
    const wanted = new Set<number>();
    for (const heard of await replay.hear(coinbase, round)) if (take(heard)) wanted.add(heard.call);
    tests = tests.filter((own) => own.slice(0, size).some((call) => wanted.has(call))).map((own) => own.slice(size));
    console.log(`${round.length} calls replayed, ${wanted.size} wanted`);
  }
}
