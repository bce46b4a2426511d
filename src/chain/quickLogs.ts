import { formatLog, numberToHex, type AbiEvent, type GetLogsParameters, type PublicClient, type RpcLog } from "viem";
import { getOrAdd } from "../base/getOrAdd.ts";
import { DecodedLogs } from "./decodedLogs.ts";
import { EventTable } from "./eventTable.ts";

type GetLogs = PublicClient["getLogs"];

/** One table for each event list used in a request for logs. */
const tables = new WeakMap<readonly AbiEvent[], EventTable>();

/**
 * Extends a client with `getLogs` for strict logs of an event list, with viem's answers. viem hashes each event's
 * signature twice in each call, and once more for each log. A follower of a chain asks for the same few events all the
 * time, and this extension hashes them once for each list. Logs are decoded only once. Other calls are viem's.
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
