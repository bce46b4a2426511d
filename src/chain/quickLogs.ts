import { formatLog, numberToHex, type AbiEvent, type GetLogsParameters, type PublicClient, type RpcLog } from "viem";
import { getOrAdd } from "../base/getOrAdd.ts";
import { DecodedLogs } from "./decodedLogs.ts";
import { EventTable } from "./eventTable.ts";

type GetLogs = PublicClient["getLogs"];

/** A table for each list of events that logs were asked for with. */
const tables = new WeakMap<readonly AbiEvent[], EventTable>();

/**
 * An extension of a client: `getLogs` for strict logs of a list of events, with the answers of viem. viem hashes the
 * signature of each event twice in each call, and once more for each log. Whoever follows a chain asks for the same few
 * events all the time, so they are hashed once for each list. Large logs that are read again are not decoded again.
 * Other calls are viem's.
 */
export function quickLogs(client: Pick<PublicClient, "getLogs" | "request">): { getLogs: GetLogs } {
  const known = new WeakMap<EventTable, DecodedLogs>();
  const quick = async (parameters: GetLogsParameters<undefined, readonly AbiEvent[]> = {}): Promise<unknown> => {
    const { address, events, fromBlock, toBlock, blockHash, strict } = parameters;
    if (events === undefined || strict !== true || blockHash !== undefined) return client.getLogs(parameters);
    const table = getOrAdd(tables, events, () => new EventTable(events));
    const block = <T>(at: bigint | T) => (typeof at === "bigint" ? numberToHex(at) : at);
    const filter = { address, topics: [table.selectors], fromBlock: block(fromBlock), toBlock: block(toBlock) };
    const logs = await client.request({ method: "eth_getLogs", params: [filter] } as never);
    const decodedLogs = getOrAdd(known, table, () => new DecodedLogs());
    return (logs as RpcLog[]).flatMap((raw) => {
      const log = formatLog(raw);
      const decoded = decodedLogs.of(raw, () => table.decode(log));
      return decoded === undefined ? [] : [{ ...log, ...decoded }];
    });
  };
  return { getLogs: quick as GetLogs };
}
