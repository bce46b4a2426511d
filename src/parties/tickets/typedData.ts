import {
  concatHex,
  domainSeparator,
  encodeAbiParameters,
  hashStruct,
  keccak256,
  type Address,
  type Hex,
  type TypedDataDomain,
} from "viem";
import type { SignedClaim, Ticket } from "../../chain/structs.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";

/** The EIP-712 types of contracts/types/SignedClaim.sol, and the type of a payer's signed request. */
const TYPES = {
  SignedClaim: [
    { name: "worker", type: "address" },
    { name: "payer", type: "address" },
    { name: "programRoot", type: "bytes32" },
    { name: "inputsRoot", type: "bytes32" },
    { name: "items", type: "uint32" },
    { name: "firstItem", type: "uint32" },
    { name: "number", type: "uint64" },
    { name: "issued", type: "uint64" },
    { name: "root", type: "bytes32" },
    { name: "secretHash", type: "bytes32" },
  ],
  Ticket: [
    { name: "claim", type: "bytes32" },
    { name: "face", type: "uint128" },
    { name: "odds", type: "uint256" },
    { name: "expiry", type: "uint64" },
    { name: "nonce", type: "bytes32" },
  ],
  Request: [
    { name: "worker", type: "address" },
    { name: "programRoot", type: "bytes32" },
    { name: "inputsRoot", type: "bytes32" },
    { name: "items", type: "uint32" },
    { name: "firstItem", type: "uint32" },
    { name: "time", type: "uint64" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

/** Where tickets are cashed: what all signatures are bound to. */
export type TicketsAt = { chainId: number; tickets: Address };

/** A payer's signed request for an answer. The chain never sees the request. */
export type AnswerRequest = {
  worker: Address;
  programRoot: Hex;
  inputsRoot: Hex;
  items: number;
  firstItem: number;
  /** The payer's clock, unix seconds. */
  time: bigint;
  nonce: Hex;
};

type Messages = { SignedClaim: SignedClaim; Ticket: Ticket; Request: AnswerRequest };

/** The domain of contracts/extras/tickets/SignedClaims.sol. */
const domainOf = ({ chainId, tickets }: TicketsAt) =>
  ({ name: "Refute tickets", version: "1", chainId, verifyingContract: tickets }) satisfies TypedDataDomain;

/** Returns the data to sign, in viem's form. */
export const typedData = <Name extends keyof Messages>(at: TicketsAt, primaryType: Name, message: Messages[Name]) => ({
  domain: domainOf(at),
  types: TYPES as unknown as Record<string, { name: string; type: string }[]>,
  primaryType: primaryType as string,
  message: message as unknown as Record<string, unknown>,
});

const separators = new WeakMap<TicketsAt, Hex>();

/** The EIP-712 digest of a claim, a ticket or a request. */
export function digestOf<Name extends keyof Messages>(at: TicketsAt, name: Name, message: Messages[Name]): Hex {
  const { domain, types, primaryType } = typedData(at, name, message);
  const separator = getOrAdd(separators, at, () => domainSeparator({ domain }));
  return keccak256(concatHex(["0x1901", separator, hashStruct({ data: { ...message }, types, primaryType })]));
}

/** Returns the hash of a worker's secret, for a signed claim. */
export const secretHashOf = (secret: Hex): Hex => keccak256(encodeAbiParameters([{ type: "bytes32" }], [secret]));

/** The number that a ticket draws: it wins below its odds. */
export const drawOf = (secret: Hex, ticketDigest: Hex): bigint =>
  BigInt(keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "bytes32" }], [secret, ticketDigest])));

/** Returns the odds for a ticket that wins once in `n` times. */
export const oddsOf = (n: number): bigint => (2n ** 256n - 1n) / BigInt(n);
