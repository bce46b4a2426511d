import { parseEther, type Address } from "viem";
import type { KnownProgram } from "../../dispute/run/execution.ts";
import { FastExecutors } from "../../runs/fastExecutors.ts";
import type { History } from "../../chain/market/history.ts";
import { followMarket, type Session } from "../../chain/market/session.ts";
import { runWorker } from "../../parties/worker/worker.ts";
import type { WorkerEvent } from "../../parties/worker/events.ts";
import type { WatcherEvent } from "../../../watcher/events.ts";
import { runWatcher } from "../../../watcher/watcher.ts";
import { createLogger } from "../../base/log.ts";
import { Inbox } from "./events.ts";
import type { Setting } from "./setting.ts";
import { ProgramLibrary } from "../../runs/programLibrary.ts";
import type { Execute } from "../../runs/execute.ts";

/** The context shared by all scenes. */
export type SceneContext = Setting & {
  program: KnownProgram;
  picture: Uint8Array;
  executors: FastExecutors;
  dapp: Address;
  requester: Session;
};

/** A running loop of a worker or a watcher, with a function to stop the loop. */
export type Running<E> = { inbox: Inbox<E>; stop: () => Promise<void> };

/** Rounds are quick here: the chain mines at once. */
const INTERVAL_MS = 100;

/** Only failures are logged, in words also where the output is no terminal; the narrator prints the rest. */
const log = createLogger("error", { isTTY: true, write: (line) => process.stderr.write(line) });

/** Starts the real worker loop. */
export function startWorker(
  session: Session,
  { program }: SceneContext,
  execute: Execute,
  samples: number,
): Running<WorkerEvent> {
  const inbox = new Inbox<WorkerEvent>();
  const stop = new AbortController();
  const policy = { minFee: parseEther("0.001"), marginSeconds: 60 };
  const loop = { signal: stop.signal, intervalMs: INTERVAL_MS, log };
  const options = {
    session,
    programs: ProgramLibrary.of([program]),
    execute,
    policy,
    selfAuditSamples: samples,
    onEvent: inbox.put,
  };
  return { inbox, stop: ending(stop, runWorker({ ...options, ...loop })) };
}

/** Starts the real watcher loop, in defence. */
export function startWatcher(session: Session, { program, executors }: SceneContext): Running<WatcherEvent> {
  const inbox = new Inbox<WatcherEvent>();
  const stop = new AbortController();
  const loop = { signal: stop.signal, intervalMs: INTERVAL_MS, log };
  const options = { session, programs: ProgramLibrary.of([program]), execute: executors.execute, onEvent: inbox.put };
  return { inbox, stop: ending(stop, runWatcher({ ...options, ...loop, mode: "defend" })) };
}

const ending = (stop: AbortController, running: Promise<void>) => async () => {
  stop.abort();
  await running;
};

/** The market's history up to now. */
export const readHistory = async (session: Session): Promise<History> => (await followMarket(session)()).history;
