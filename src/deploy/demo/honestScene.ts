import { formatEther, parseEther, type Hex } from "viem";
import type { WatcherEvent } from "../../../watcher/events.ts";
import type { Session } from "../../chain/market/session.ts";
import type { WorkerEvent } from "../../parties/worker/events.ts";
import { ask } from "./dapp.ts";
import type { Figures } from "./figures.ts";
import { grouped, short, type Narrator } from "./narrator.ts";
import { preview, type Picture } from "./picture.ts";
import { readHistory, startWorker, type Running, type SceneContext } from "./players.ts";

export const TERMS = { fee: parseEther("0.05"), window: 3_600, claimSeconds: 1_800 };

/** Posts the job through the dapp. */
export async function post(context: SceneContext, picture: Picture, n: Narrator): Promise<{ jobId: Hex; gas: bigint }> {
  const asked = await ask(context.requester, context.dapp, context.program, context.picture, {
    ...TERMS,
    salt: "first",
  });
  n.narrate(`The picture, ${picture.width} x ${picture.height} pixels of 3 bytes, all of it on chain:`);
  for (const line of preview(picture, 64)) n.narrate(`  |${line}|`);
  n.narrate(`Job ${short(asked.jobId)} is posted by the dapp's contract; ${formatEther(TERMS.fee)} WETH in escrow.`);
  n.narrate(`Gas: ${grouped(asked.gas)}, nearly all of it for ${grouped(context.picture.length)} bytes of input.`);
  return asked;
}

/** An honest worker serves the job; the watcher stays silent. */
export async function honestScene(
  context: SceneContext,
  worker: Session,
  watcher: Running<WatcherEvent>,
  asked: { jobId: Hex; gas: bigint },
  n: Narrator,
): Promise<Figures["honest"]> {
  const before = (await worker.vault.accountOf(worker.sender.address)).credit;
  // Three elements are recomputed by the chain, for free, before the worker commits itself.
  const running = startWorker(worker, context, context.executors.execute, 3);
  const event = <K extends WorkerEvent["kind"]>(kind: K) =>
    running.inbox.first(kind, (e): e is Extract<WorkerEvent, { kind: K }> => e.kind === kind);
  const claimed = await event("claimed");
  const executed = await event("executed");
  const submitted = await event("submitted");
  n.narrate(`The worker claims the job and executes it exactly in ${executed.milliseconds} ms.`);
  n.narrate(`It posts the top of its trace; the chain keeps the root, 32 bytes: ${short(executed.root)}.`);

  const verdict = await watcher.inbox.first(
    "the watcher's verdict",
    (e): e is Extract<WatcherEvent, { kind: "agrees" | "differs" }> => e.kind === "agrees" || e.kind === "differs",
  );
  if (verdict.kind !== "agrees") throw new Error("the watcher disputes the honest claim");
  n.narrate(`The watcher executes it too (${verdict.milliseconds} ms), finds the same root, and stays silent.`);
  await context.chain.advance(TERMS.window + 1);
  const delivered = await event("delivered");
  await running.stop();
  const { claims } = (await readHistory(context.requester)).jobs.get(asked.jobId)!;
  if (claims.at(-1)?.finalised !== true) throw new Error("the honest claim is not finalised");
  n.narrate("The window passes without a dispute: the claim is finalised, the output delivered with its proof.");

  const answer = await context.answerOf(context.dapp, asked.jobId);
  n.narrate(`The dapp's contract now holds the answer (read with ${context.reader}): ${answer.text}.`);
  const paid = (await worker.vault.accountOf(worker.sender.address)).credit - before;
  n.narrate(`The worker is paid: ${formatEther(paid)} WETH.`);
  const gas = {
    ask: Number(asked.gas),
    claim: Number(claimed.receipt.gasUsed),
    submit: Number(submitted.receipt.gasUsed),
    deliver: Number(delivered.receipt.gasUsed),
  };
  n.narrate(
    `Gas: claim ${grouped(gas.claim)}, submit ${grouped(gas.submit)}, deliver and finalise ${grouped(gas.deliver)}.`,
  );
  return {
    outcome: "finalised",
    answer: answer.text,
    confidencePpm: answer.confidencePpm,
    executionMilliseconds: executed.milliseconds,
    gas,
  };
}
