import { setTimeout as sleep } from "node:timers/promises";
import { Story } from "../../../testkit/processes/story.ts";
import { prepareForProcesses } from "./processes.ts";

/** A day of blocks; a block has this many seconds on the chain. */
const BLOCKS = 10_000;
const BLOCK_SECONDS = 9;
/** Milliseconds between blocks. A worker makes about a job in 1.5 s: it sends, and waits for receipts. */
const PACE_MS = 80;
const JOBS = 475;
const LIES = 25;
/** Blocks between two jobs, and between two lines of the table. */
const JOB_BLOCKS = BLOCKS / (JOBS + LIES);
const LINE_BLOCKS = 1_000;
/** On the chain: 24 and 128 seconds here. */
const WINDOW = 2_700;
const CLOCK = 14_400;
/** Seconds; for machines that are slow. */
const LIMIT = 3_600;

/**
 * Plays a chain's day in about a quarter of an hour: every twentieth job is the liar's. Prints the memory of the
 * worker's and the watcher's process on the way.
 * @returns Whether all lies were refuted and all honest jobs paid.
 */
export async function soakDay(seed: number): Promise<boolean> {
  prepareForProcesses();
  const times = { window: WINDOW, clock: CLOCK, blockSeconds: 0.2, limit: LIMIT };
  const story = await Story.create({ seed, lies: LIES, jobs: JOBS, isPaced: true, ...times });
  const result = await story.play(day);
  const { lies, survived, paid, lostGames, reverted, sent, errors, seconds } = result;
  console.log(`${lies} lies, ${survived} became final; ${paid} of ${JOBS} jobs paid; ${lostGames} games lost`);
  console.log(
    `${sent} transactions, ${reverted.length} reverted; ${seconds} s; errors logged: ${JSON.stringify(errors)}`,
  );
  return survived === 0 && lostGames === 0 && paid === JOBS && reverted.length === 0;
}

async function day(story: Story, signal: AbortSignal): Promise<void> {
  const { anvil, processes } = story;
  const posts: Promise<void>[] = [];
  await anvil.request("evm_setAutomine", [false]);
  await anvil.request("anvil_setBlockTimestampInterval", [BLOCK_SECONDS]);
  console.log("block   jobs paid   worker, MiB   watcher, MiB   seconds");
  const start = Date.now();
  // After the day, blocks come until everything is decided.
  for (let block = 0; !signal.aborted; block++) {
    await anvil.request("evm_mine");
    if (block < BLOCKS && block % JOB_BLOCKS === 0) {
      const isLie = (block / JOB_BLOCKS) % ((JOBS + LIES) / LIES) === 0;
      posts.push(story.post(isLie ? 1 : 0, isLie ? 0 : 1));
    }
    if (block % LINE_BLOCKS === 0) {
      const paid = [...(story.history?.claims.values() ?? [])].filter((claim) => claim.paid).length;
      const memory = [processes.worker, processes.watcher].map(({ residentMib }) => String(residentMib ?? "-"));
      const cells = [block, paid, ...memory, Math.round((Date.now() - start) / 1_000)];
      console.log(cells.map((cell, k) => String(cell).padEnd([8, 12, 14, 15, 0][k]!)).join(""));
    }
    await sleep(Math.max(0, start + (block + 1) * PACE_MS - Date.now()));
  }
  await Promise.all(posts);
}
