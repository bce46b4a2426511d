/**
 * Many pictures under one claim, on ppocr2_cls and an embedded chain: posted, executed, watched, final, read item by
 * item; then the same job with a lie in one item, refuted.
 */
import { parseEther, type TransactionReceipt } from "viem";
import type { WatcherEvent } from "../../../watcher/events.ts";
import { cheatingExecute, chooseAlteration } from "../../../src/deploy/demo/cheat.ts";
import type { Execute } from "../../../src/runs/execute.ts";
import { FastExecutors } from "../../../src/runs/fastExecutors.ts";
import { followMarket } from "../../../src/chain/market/session.ts";
import { decodeOutputs } from "../../../src/parties/requester/decodeOutputs.ts";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { itemOutputs } from "../../../src/parties/requester/itemOutputs.ts";
import { minWindow, usualClaimSeconds } from "../../../src/parties/requester/postJob.ts";
import type { WorkerEvent } from "../../../src/parties/worker/events.ts";
import { TracePublisher } from "../../../src/parties/worker/publisher.ts";
import { Players, type Running } from "../../../testkit/players/players.ts";
import { readOptions, whole } from "../../options.ts";
import { picturesOf, pictureProgram } from "./pictures.ts";

const values = readOptions({
  items: whole("pictures of the job", 1_000),
  lie: whole("the item with a lie; 617 by default, or the last one"),
});
const { items, lie: lieItem = Math.min(617, items - 1) } = values;
/** Longest wait for an event. */
const LIMIT_MS = 1_800_000;
const FEE = parseEther("0.5");

const program = pictureProgram();
const description = describeProgram(program);
const pictures = picturesOf(items);
const executors = new FastExecutors();
const players = await Players.create({ maxWork: 10n ** 12n });

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;
const event = <E extends { kind: string }, K extends E["kind"]>({ inbox }: Running<E>, kind: K) =>
  inbox.first(kind, (e): e is Extract<E, { kind: K }> => e.kind === kind, LIMIT_MS);

async function post(salt: `0x${string}`) {
  const session = await players.chain.newSession(parseEther("1"));
  const terms = {
    salt,
    items,
    fee: FEE,
    window: minWindow(session, description, items),
    claimSeconds: usualClaimSeconds(session, description, items),
  };
  const posted = await players.post(program, [Buffer.concat(pictures)], terms);
  return { ...posted, window: terms.window };
}

async function honest(): Promise<void> {
  console.log(`An honest run of ${items} pictures`);
  const publisher = new TracePublisher();
  const url = `http://127.0.0.1:${await publisher.listen(0)}`;
  const start = performance.now();
  const { requester, jobId, window } = await post(`0x${"01".repeat(32)}`);
  console.log(`  posted with its pictures on chain in ${seconds(start)}; the window is ${window} s`);
  const key = await players.workerKey();
  const worker = await players.startWorker(key, program, executors.execute, { publisher, selfAuditSamples: 1 });
  const claimed = await event<WorkerEvent, "claimed">(worker, "claimed");
  const executed = await event<WorkerEvent, "executed">(worker, "executed");
  const submitted = await event<WorkerEvent, "submitted">(worker, "submitted");
  const each = executed.milliseconds / items;
  console.log(`  executed and committed in ${executed.milliseconds} ms, ${each.toFixed(2)} ms a picture`);
  await players.chain.advance(window + 1);
  const finalised = await event<WorkerEvent, "finalised">(worker, "finalised");
  const gas = [claimed, submitted, finalised].map(({ receipt }) => Number(receipt.gasUsed));
  const total = gas.reduce((a, b) => a + b);
  console.log(`  gas of claim ${gas[0]}, submit ${gas[1]}, finalise ${gas[2]}: ${(total / items).toFixed(0)} an item`);
  await worker.stop();
  await readItems(requester, jobId, url);
  await publisher.close();
}

async function readItems(requester: Awaited<ReturnType<typeof post>>["requester"], jobId: `0x${string}`, url: string) {
  for (const item of [0, 1, lieItem, items - 1]) {
    const { outputs } = await itemOutputs(requester, jobId, { item, url });
    const [scores] = decodeOutputs(description, outputs).values();
    console.log(`  item ${item}: upright ${scores!.data[0]}, turned ${scores!.data[1]}`);
  }
}

async function lying(): Promise<void> {
  console.log(`The same with a lie in item ${lieItem}`);
  const alteration = await chooseAlteration(executors, program, [pictures[lieItem]!]);
  const cheat = cheatingExecute(executors, alteration);
  const target = Buffer.from(pictures[lieItem]!);
  const execute: Execute = (...args) => (target.equals(args[1][0]!) ? cheat : executors.execute)(...args);
  const { requester, jobId } = await post(`0x${"02".repeat(32)}`);
  const worker = await players.startWorker(await players.workerKey(), program, execute);
  await event<WorkerEvent, "submitted">(worker, "submitted");
  const start = performance.now();
  const watcher = await players.startWatcher(await players.watcherKey(), program, executors.execute);
  const differs = await event<WatcherEvent, "differs">(watcher, "differs");
  console.log(`  the watcher finds it after ${differs.milliseconds} ms`);
  await event<WorkerEvent, "refuted">(worker, "refuted");
  await Promise.all([worker.stop(), watcher.stop()]);
  const { history } = await followMarket(requester)();
  const [game] = history.jobs.get(jobId)!.claims[0]!.games;
  const receipts: TransactionReceipt[] = [];
  for (const hash of [...game!.moves.map(({ transactionHash }) => transactionHash), game!.closed!.transactionHash])
    receipts.push(await requester.publicClient.getTransactionReceipt({ hash }));
  const gas = receipts.reduce((sum, { gasUsed }) => sum + Number(gasUsed), 0);
  const { item } = game!.moves.at(-1)!.state;
  console.log(
    `  refuted in ${seconds(start)}: item ${item}, step ${game!.proved!.step}, element ${game!.proved!.element}`,
  );
  console.log(`  ${receipts.length} transactions, ${gas} gas`);
}

await honest();
await lying();
await executors.close();
await players.chain.close();
