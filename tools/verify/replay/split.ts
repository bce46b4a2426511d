import {
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  encodeFunctionResult,
  type Abi,
  type Hex,
} from "viem";
import type { Call } from "./calls.ts";

/** Harness functions with packed operands in the last argument: bytes per operation, given and returned. */
const BATCHES: Readonly<Record<string, { given: number; returned: number }>> = {
  evaluateMany: { given: 8, returned: 4 },
  float32: { given: 8, returned: 4 },
  integer: { given: 64, returned: 32 },
  operate: { given: 64, returned: 32 },
};
const OPERATIONS = 20;

/**
 * Splits a harness's batch into calls of a few operations, which find the same faults and are much cheaper to replay.
 * Other calls stay as they are.
 */
export function split(call: Call, abi: Abi): Call[] {
  if (call.to === undefined || !("returns" in call.outcome)) return [call];
  const { functionName, args = [] } = decodeFunctionData({ abi, data: call.data });
  const batch = BATCHES[functionName];
  if (batch === undefined) return [call];
  const decoded: unknown = decodeFunctionResult({ abi, functionName, data: call.outcome.returns });
  // The values after the results measure gas.
  const several = Array.isArray(decoded) ? (decoded as unknown[]) : undefined;
  const results = (several?.[0] ?? decoded) as Hex;
  const operands = args.at(-1) as Hex;
  const part = (packed: Hex, bytes: number, k: number): Hex =>
    `0x${packed.slice(2 + 2 * bytes * k).slice(0, 2 * bytes * OPERATIONS)}`;
  const operations = (operands.length - 2) / 2 / batch.given;
  return Array.from({ length: Math.ceil(operations / OPERATIONS) }, (_, k) => {
    const own = part(results, batch.returned, k * OPERATIONS);
    const result = several === undefined ? own : [own, ...several.slice(1)];
    return {
      ...call,
      data: encodeFunctionData({
        abi,
        functionName,
        args: [...args.slice(0, -1), part(operands, batch.given, k * OPERATIONS)],
      }),
      outcome: { returns: encodeFunctionResult({ abi, functionName, result: result }) },
    };
  });
}
