import { keccak256, parseTransaction, recoverTransactionAddress, serializeTransaction, type Hex } from "viem";

/** A transaction's fields that a pool checks. Fees are wei per gas, `value` is wei. */
export type Offered = {
  /** Serialised with its signature. */
  bytes: number;
  gas: bigint;
  maxFee: bigint;
  tip: bigint;
  value: bigint;
  data: Hex;
  creates: boolean;
};

/** A signed transaction. */
export type Pooled = Offered & { raw: Hex; hash: Hex; from: Hex; to: Hex | null; nonce: number };

const bytesIn = (hex: Hex): number => hex.length / 2 - 1;

/**
 * The latest transaction read. A chain reads each transaction that it receives, after the pool has read the same
 * transaction.
 */
let last: { raw: Hex; read: Promise<Pooled> } | undefined;

/** Reads a signed transaction. A transaction without EIP-1559 fees offers its gas price for both fees. */
export function readSigned(raw: Hex): Promise<Pooled> {
  if (last?.raw !== raw) last = { raw, read: readAndRecover(raw) };
  return last.read;
}

async function readAndRecover(raw: Hex): Promise<Pooled> {
  const parsed = parseTransaction(raw);
  const { nonce = 0, gas = 0n, value = 0n, data = "0x", to = null } = parsed;
  const maxFee = parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n;
  const tip = parsed.maxFeePerGas === undefined ? maxFee : (parsed.maxPriorityFeePerGas ?? 0n);
  const from = (await recoverTransactionAddress({ serializedTransaction: raw as never })).toLowerCase() as Hex;
  const creates = to === null;
  return { raw, hash: keccak256(raw), from, to, nonce, bytes: bytesIn(raw), gas, maxFee, tip, value, data, creates };
}

/** The fields of `eth_sendTransaction`. The node signs the transaction itself. */
export type Unsigned = Partial<
  Record<"to" | "data" | "input" | "gas" | "value" | "gasPrice" | "maxFeePerGas" | "maxPriorityFeePerGas", Hex>
>;

/** Fees and signature of usual lengths: what a node fills in. */
const SIGNATURE = { r: `0x${"11".repeat(32)}`, s: `0x${"11".repeat(32)}`, yParity: 1 } as const;
const USUAL_FEE = 2n ** 36n;

/**
 * Returns the transaction that a node will sign for `eth_sendTransaction`.
 * @param usualGas The gas that the node adds to a transaction without a gas field.
 */
export function readUnsigned(sent: Unsigned, usualGas: bigint): Offered {
  const { to, gas, value } = sent;
  const data = sent.data ?? sent.input ?? "0x";
  const maxFee = BigInt(sent.maxFeePerGas ?? sent.gasPrice ?? USUAL_FEE);
  const offered = {
    gas: gas === undefined ? usualGas : BigInt(gas),
    maxFee,
    tip: BigInt(sent.maxPriorityFeePerGas ?? sent.gasPrice ?? maxFee),
    value: BigInt(value ?? 0n),
    data,
    creates: to === undefined,
  };
  const fees = { maxFeePerGas: maxFee, maxPriorityFeePerGas: offered.tip < maxFee ? offered.tip : maxFee };
  const fields = { type: "eip1559", chainId: 31_337, nonce: 255, to: to ?? null, ...fees } as const;
  const raw = serializeTransaction({ ...fields, data, gas: offered.gas, value: offered.value }, SIGNATURE);
  return { ...offered, bytes: bytesIn(raw) };
}
