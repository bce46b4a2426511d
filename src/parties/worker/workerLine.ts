import type { WatcherEvent } from "../../../watcher/events.ts";
import { watcherLine } from "../../../watcher/watcher.ts";
import type { LogLine } from "../role/role.ts";
import type { WorkerEvent } from "./events.ts";

/** Events that cost the worker money. */
const LOSSES: ReadonlySet<WorkerEvent["kind"]> = new Set(["refuted", "withheld", "undelivered", "sealLost"]);

/** Events of a watcher. A worker has them about other seats of its panels. */
const isWatching = (event: WorkerEvent): event is WatcherEvent =>
  ["agrees", "differs", "unknown", "opened", "lost", "settled"].includes(event.kind);

/** Returns how an event of a worker is logged. */
export const workerLine = (event: WorkerEvent): LogLine =>
  isWatching(event) ? watcherLine(event) : { level: LOSSES.has(event.kind) ? "error" : "info", message: event.kind };
