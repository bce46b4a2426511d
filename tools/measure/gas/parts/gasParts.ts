import { numberToHex, size, type Address, type Hex, type TransactionReceipt } from "viem";
import type { World } from "../../../../testkit/protocol/deployWorld.ts";

/** The parts of gas, in the order of the tables. Computing is all operations without a part of their own. */
const PARTS = [
  "transaction",
  "calldata",
  "floor",
  "storage",
  "hashing",
  "calls",
  "events",
  "memory",
  "computing",
] as const;
type Part = (typeof PARTS)[number];
export type GasParts = Record<Part, number>;

/** A step of a trace. `gas` is left before the step, `gasCost` is used only for a frame's last step. */
type TraceStep = { op: string; gas: number; gasCost: number; depth: number; stack: Hex[] };

/** One write to storage: the words are the slot and the new value. */
type Write = { account: Address; slot: Hex; value: bigint };

const TRANSACTION_GAS = 21_000;
/** EIP-2028: gas of a calldata byte, zero or not. EIP-7623: the minimum gas of a byte. */
const [BYTE_GAS, FLOOR_GAS] = [
  { zero: 4, other: 16 },
  { zero: 10, other: 40 },
];
/** EIP-3529 and EIP-2200: the refunds of a cleared word and of a restored word. */
const [CLEARED, RESTORED, RESTORED_EMPTY] = [4_800n, 2_800n, 19_900n];
/** EIP-3529: the refund is at most a fifth of the gas. */
const REFUND_QUOTIENT = 5;
/** The addresses of SHA-256 and of P-256. */
const PRECOMPILES = [2n, 0x100n];

/** The sum of all parts: the gas of the receipts. */
export const totalOf = (parts: GasParts): number => PARTS.reduce((sum, part) => sum + parts[part], 0);

/** Adds up the parts of several transactions. */
export function sumOf(all: readonly GasParts[]): GasParts {
  return Object.fromEntries(PARTS.map((part) => [part, all.reduce((sum, one) => sum + one[part], 0)])) as GasParts;
}

/** The part of an operation besides calls. */
function partOf(op: string): Part {
  if (/^[ST](LOAD|STORE)$/.test(op)) return "storage";
  if (op === "KECCAK256" || op === "SHA3") return "hashing";
  if (op.startsWith("LOG")) return "events";
  if (/^(EXTCODE|BALANCE$|CREATE|SELFDESTRUCT)/.test(op)) return "calls";
  if (/^(M(LOAD|STORE8?|COPY|SIZE)|(CALLDATA|CODE|RETURNDATA)(COPY|SIZE|LOAD)|RETURN|REVERT)$/.test(op))
    return "memory";
  return "computing";
}

/**
 * Returns the gas of a mined transaction by operations. A call's gas excludes the callee's. The precompiles of SHA-256
 * and P-256 count as hashing. Storage is less the refund. The floor is the addition by EIP-7623. The transaction must
 * be alone in the block: original values are read from the block before.
 * @throws Error for a reverted frame, or if the parts differ from the receipt's gas
 */
export async function gasParts({ client }: Pick<World, "client">, hash: Hex): Promise<GasParts> {
  const [receipt, { input, to }, trace] = await Promise.all([
    client.getTransactionReceipt({ hash }),
    client.getTransaction({ hash }),
    client.request({ method: "debug_traceTransaction", params: [hash] } as never),
  ]);
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as GasParts;
  parts.transaction = TRANSACTION_GAS;
  parts.calldata = bytesGas(input, BYTE_GAS);
  const writes: Write[] = [];
  const { structLogs } = trace as { structLogs: TraceStep[] };
  if (structLogs.length > 0) frameGas(structLogs, 0, to!, parts, writes);
  const refund = Number(await refundOf(client, receipt, writes));
  parts.storage -= Math.min(refund, Math.floor(totalOf(parts) / REFUND_QUOTIENT));
  parts.floor = Math.max(0, TRANSACTION_GAS + bytesGas(input, FLOOR_GAS) - totalOf(parts));
  if (totalOf(parts) !== Number(receipt.gasUsed))
    throw new Error(`${hash}: the parts are ${totalOf(parts)} gas, the receipt has ${receipt.gasUsed}`);
  return parts;
}

function bytesGas(data: Hex, { zero, other }: { zero: number; other: number }): number {
  const zeros =
    data
      .slice(2)
      .match(/../g)
      ?.filter((byte) => byte === "00").length ?? 0;
  return zeros * zero + (size(data) - zeros) * other;
}

/**
 * Adds the operations of a frame.
 * @param first The frame's first step.
 * @param account The owner of the written storage.
 * @returns the gas of the frame and of all callees, and the step after the frame
 */
function frameGas(steps: readonly TraceStep[], first: number, account: Address, parts: GasParts, writes: Write[]) {
  let gas = 0;
  for (let at = first; ;) {
    const step = steps[at++]!;
    let callee = 0;
    const before = steps[at];
    if (before !== undefined && before.depth > step.depth)
      ({ gas: callee, next: at } = frameGas(
        steps,
        at,
        step.op === "DELEGATECALL" ? account : word(step, 1),
        parts,
        writes,
      ));
    if (step.op === "REVERT" || step.op === "INVALID") throw new Error(`a frame of ${account} reverts`);
    if (step.op === "SSTORE") writes.push({ account, slot: `0x${top(step, 0)}`, value: BigInt(`0x${top(step, 1)}`) });
    const next = steps[at];
    const isLast = next === undefined || next.depth < step.depth;
    const own = isLast ? step.gasCost : step.gas - next.gas - callee;
    parts[step.op.endsWith("CALL") ? callPart(step) : partOf(step.op)] += own;
    gas += own + callee;
    if (isLast) return { gas, next: at };
  }
}

/** The k-th word from the stack's top, 64 digits. */
const top = ({ stack }: TraceStep, k: number): string =>
  stack
    .at(-1 - k)!
    .replace("0x", "")
    .padStart(64, "0");
const word = (step: TraceStep, k: number): Address => `0x${top(step, k).slice(24)}`;

function callPart(step: TraceStep): Part {
  return PRECOMPILES.includes(BigInt(word(step, 1))) ? "hashing" : "calls";
}

/** The refund of the writes, before the bound of a fifth. */
async function refundOf(client: World["client"], { blockNumber }: TransactionReceipt, writes: readonly Write[]) {
  const known = new Map<string, { original: bigint; current: bigint }>();
  let refund = 0n;
  for (const { account, slot, value } of writes) {
    const key = `${account} ${slot}`;
    if (!known.has(key)) {
      const params = [account, slot, numberToHex(blockNumber - 1n)];
      const original = BigInt(await client.request({ method: "eth_getStorageAt", params } as never));
      known.set(key, { original, current: original });
    }
    const { original, current } = known.get(key)!;
    known.set(key, { original, current: value });
    if (value === current) continue;
    if (current !== original && original !== 0n && current === 0n) refund -= CLEARED;
    if (original !== 0n && value === 0n) refund += CLEARED;
    if (current !== original && value === original) refund += original === 0n ? RESTORED_EMPTY : RESTORED;
  }
  return refund;
}
