import { concat, encodeAbiParameters, getAddress, keccak256, numberToHex, type Address, type Hex } from "viem";
import type { Hash } from "../../program/merkle/hash.ts";
import type { Level, Move, PackedState, Side } from "../structs.ts";

/** A game's whole state (contracts/types/GameState.sol describes each field). */
export type GameState = {
  claimId: Hex;
  programRoot: Hex;
  node: Hash;
  runRoot: Hash;
  traceRoot: Hash;
  interiorRoot: Hash;
  index: number;
  width: number;
  depth: number;
  level: Level;
  turn: Side;
  first: number;
  last: number;
  step: number;
  tailBytes: number;
  number: number;
  item: number;
  checkpoints: number;
  /** The move that led here. */
  move: Move;
  challenger: Address;
  bond: bigint;
  workerSeconds: number;
  challengerSeconds: number;
  since: number;
  spent: bigint;
};

type Fields = readonly (readonly [name: keyof GameState, bits: number])[];

/** Where the fields lie in the packed words, from the lowest bit up: contracts/game/States.sol. */
const PLACE: Fields = [
  ["index", 32],
  ["width", 32],
  ["depth", 8],
  ["level", 8],
  ["turn", 8],
  ["first", 32],
  ["last", 32],
  ["step", 32],
  ["tailBytes", 16],
  ["number", 32],
  ["move", 8],
];
const PARTY: Fields = [
  ["challenger", 160],
  ["bond", 96],
];
const CLOCK: Fields = [
  ["workerSeconds", 32],
  ["challengerSeconds", 32],
  ["since", 40],
  ["spent", 96],
  ["item", 16],
  ["checkpoints", 32],
];
const BIG: ReadonlySet<keyof GameState> = new Set(["bond", "spent"]);

/** The nine words in which calls bring a state. */
export function packState(state: GameState): PackedState {
  const { claimId, programRoot, node, runRoot, traceRoot, interiorRoot } = state;
  const word = (fields: Fields): bigint =>
    fields.reduceRight((bits, [name, size]) => (bits << BigInt(size)) | BigInt(state[name]), 0n);
  const roots = { claimId, programRoot, node, runRoot, traceRoot, interiorRoot };
  return { ...roots, place: word(PLACE), party: word(PARTY), clock: word(CLOCK) };
}

/** The state in the words of an event. */
export function unpackState({ place, party, clock, ...roots }: PackedState): GameState {
  return { ...roots, ...fieldsOf(place, PLACE), ...fieldsOf(party, PARTY), ...fieldsOf(clock, CLOCK) } as GameState;
}

function fieldsOf(word: bigint, fields: Fields): Record<string, unknown> {
  let left = word;
  return Object.fromEntries(
    fields.map(([name, size]): [string, unknown] => {
      const value = BigInt.asUintN(size, left);
      left >>= BigInt(size);
      if (name === "challenger") return [name, getAddress(numberToHex(value, { size: 20 }))];
      return [name, BIG.has(name) ? value : Number(value)];
    }),
  );
}

/** The hash by which a state is named. */
export function hashStateOf(state: GameState): Hex {
  const packed = packState(state);
  const { claimId, programRoot, node, runRoot, traceRoot, interiorRoot } = packed;
  const words = [packed.place, packed.party, packed.clock].map((word) => numberToHex(word, { size: 32 }));
  return keccak256(concat([claimId, programRoot, node, runRoot, traceRoot, interiorRoot, ...words]));
}

/** Returns a game's id: a hash over the claim, the challenger, and the challenger's chosen number. */
export const gameIdOf = ({ claimId, challenger, number }: GameState): Hex =>
  keccak256(
    encodeAbiParameters([{ type: "bytes32" }, { type: "address" }, { type: "uint32" }], [claimId, challenger, number]),
  );
