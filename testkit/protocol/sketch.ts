import { keccak256, stringToHex, zeroHash, type Hex } from "viem";
import { NO_CHECKPOINT, NO_PROGRAM, NO_STEP } from "../../src/chain/structs.ts";
import type { Claim, JobRequest, PackedState, Pick, ProgramFacts } from "../../src/chain/structs.ts";
import { packState, unpackState, type GameState } from "../../src/chain/market/state.ts";
import { fromHash, sha256, toHash, toHex, zeroHash as zeroSubtree, type Hash } from "../../src/program/merkle/hash.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { SCOPE, SEMANTICS_VERSION, SOURCE } from "../../src/program/encode.ts";
import { claimContentOf } from "../../src/chain/market/ids.ts";
import { claimKey, gameEvents, gasOf, postJob, usualTerms } from "./world.ts";
import type { Actor, World } from "./deployWorld.ts";

/** Base fee of the blocks with a {@link SketchedGame}'s moves. */
const BASE_FEE = 8n * 10n ** 9n;

/** The program parts that a game reads above the traces: the header. */
export type Sketch = {
  /** Where items take each input from; without it one shared input. */
  inputs?: readonly (keyof typeof SOURCE)[];
  /** Elements of each input; without it one. */
  elements?: number;
  outputs: readonly { checkpoint: number; each?: boolean; count?: number }[];
  checkpoints: number;
};

/** A hash that nobody knows anything under. */
export const madeUp = (name: string): Hash => keccak256(stringToHex(name));

/** So many hashes that nobody knows anything under. */
export const manyMadeUp = (name: string, count: number): Hash[] =>
  Array.from({ length: count }, (_, k) => madeUp(`${name} ${k}`));

/** Returns a program with a real header only. Steps and checkpoints are made up. */
export function sketched({ inputs = ["shared"], elements = 1, outputs, checkpoints }: Sketch): ProgramFacts {
  const header = Buffer.alloc(30 + 14 * (inputs.length + outputs.length));
  header.writeUInt16BE(SEMANTICS_VERSION, 0);
  header.writeUInt32BE(1_000_000, 2);
  header.writeUInt32BE(90_000, 6);
  header.writeUInt32BE(checkpoints, 18);
  header.writeUInt32BE(checkpoints, 22);
  header.writeUInt16BE(inputs.length, 26);
  header.writeUInt16BE(outputs.length, 28);
  inputs.forEach((source, k) => {
    const at = 30 + 14 * k;
    header.writeUInt8(source === "index" ? DType.int64 : DType.int32, at);
    header.writeUInt32BE(source === "index" ? 1 : elements, at + 5);
    header.writeUInt8(SOURCE[source], at + 9);
  });
  outputs.forEach(({ checkpoint, each = false, count = 1 }, k) => {
    const at = 30 + 14 * (inputs.length + k);
    header.writeUInt32BE(checkpoint, at);
    header.writeUInt8(DType.int32, at + 4);
    header.writeUInt32BE(count, at + 9);
    header.writeUInt8(each ? SCOPE.each : SCOPE.last, at + 13);
  });
  return { header: toHex(header), stepsRoot: madeUp("steps"), checkpointsRoot: madeUp("checkpoints") };
}

/** Returns a request for an answer to a sketched program, by roots alone. */
export async function sketchedRequest(
  world: World,
  program: ProgramFacts,
  changes: Partial<JobRequest> = {},
): Promise<JobRequest> {
  const inputs = Buffer.from(program.header.slice(2), "hex");
  const inputRoots = Array.from({ length: inputs.readUInt16BE(26) }, (_, k) =>
    inputs.readUInt8(30 + 14 * k + 9) === SOURCE.index ? zeroHash : madeUp(`input ${k}`),
  );
  const terms = { ...(await usualTerms(world)), window: 80_000, answer: true, rootOnly: true };
  return { ...terms, program, inputRoots, inputs: [], ...changes };
}

/** Nodes as calls bring them. */
export const joined = (nodes: readonly Hash[]): Hex => `0x${nodes.map((node) => node.slice(2)).join("")}`;

/** Returns a worker's submission for an answer: all outputs, and padding. */
export const submittedAnswer = (outputs: MerkleList): Hex =>
  joined(Array.from({ length: 2 ** outputs.depth }, (_, k) => outputs.node(0, k)));

/** Posts a request. A worker answers the request with the given output roots. */
export async function sketchedClaim(world: World, request: JobRequest, outputs: readonly Hash[]): Promise<Claim> {
  const job = await postJob(world, request);
  const { account } = world.worker;
  await world.market.write.claim([job], { account });
  const list = MerkleList.fromHashes(outputs);
  await world.market.write.submit([job, submittedAnswer(list)], { account });
  return { job, worker: account.address, root: list.root, collateral: world.parameters.collateral };
}

/** Returns the pick of a list's leaf, with or without a program. */
export const leafPick = (list: MerkleList, index: number, program: ProgramFacts = NO_PROGRAM): Pick => ({
  index: BigInt(index),
  node: list.node(0, index),
  siblings: list.path(index),
  program,
  checkpoint: NO_CHECKPOINT,
  step: NO_STEP,
});

/** The node above another one. @param siblings The lowest first. */
export function climb(node: Hash, index: number, siblings: readonly Hash[]): Hash {
  return siblings.reduce((below, sibling, level) => {
    const isRight = Math.floor(index / 2 ** level) % 2 === 1;
    const pair = isRight ? [sibling, below] : [below, sibling];
    return toHash(sha256(...pair.map(fromHash)));
  }, node);
}

/** The nodes shown by an expansion: the first nodes of a list, and the siblings from a leaf up to a shown node. */
type Expansion = { children: readonly Hash[]; siblings: readonly Hash[] };

/**
 * Returns the first nodes of a list made up around a leaf.
 * @param width Leaves of the list.
 * @param hop Levels from the list's root down to the nodes.
 * @param below Siblings from the leaf up to the list's own leaf; none if the leaf itself lies in the list.
 */
export function expansionAround(
  leaf: Hash,
  { width, index, hop }: { width: number; index: number; hop: number },
  below: { index: number; siblings: readonly Hash[] } = { index: 0, siblings: [] },
): Expansion {
  const inList = climb(leaf, below.index, below.siblings);
  const depth = Math.ceil(Math.log2(width));
  const siblings = manyMadeUp("sibling", depth - hop);
  const children = manyMadeUp("child", 2 ** hop);
  const real = Math.floor((width - 1) / 2 ** (depth - hop)) + 1;
  children.fill(toHash(zeroSubtree(depth - hop)), real);
  children[Math.floor(index / 2 ** (depth - hop))] = climb(inList, index % 2 ** (depth - hop), siblings);
  return { children, siblings: [...below.siblings, ...siblings] };
}

/** A game with moves made up by the test, and the last move's burnt and paid amounts, in gas. */
export class SketchedGame {
  state!: GameState;
  gas = 0n;
  paid = 0n;

  readonly world: World;
  readonly claim: Claim;
  readonly challenger: Actor;

  constructor(world: World, claim: Claim, challenger: Actor = world.watcher) {
    this.world = world;
    this.claim = claim;
    this.challenger = challenger;
  }

  get packed(): PackedState {
    return packState(this.state);
  }

  async open(pick: Pick, number = 0): Promise<this> {
    return this.#send(() =>
      this.world.game.write.open([this.claim, number, pick], { account: this.challenger.account }),
    );
  }

  async pick(pick: Pick): Promise<this> {
    return this.#send(() => this.world.game.write.pick([this.packed, pick], { account: this.challenger.account }));
  }

  async reveal(data: Hex): Promise<this> {
    return this.#send(() => this.world.game.write.reveal([this.packed, data], { account: this.world.worker.account }));
  }

  async expand({ children, siblings }: Expansion, by: Actor = this.world.worker): Promise<this> {
    const key = claimKey(this.world, this.claim);
    const args = [this.packed, claimContentOf(key), joined(children), siblings] as const;
    return this.#send(() => this.world.game.write.expand(args, { account: by.account }));
  }

  async #send(send: () => Promise<Hex>): Promise<this> {
    await this.world.networkHelpers.setNextBlockBaseFeePerGas(BASE_FEE);
    const before = this.state as GameState | undefined;
    const hash = await send();
    const [event] = (await gameEvents(this.world, hash)).filter(
      (e) => e.eventName === "Moved" || e.eventName === "Picked",
    );
    this.state = unpackState((event as unknown as { args: { state: PackedState } }).args.state);
    this.gas = await gasOf(this.world, hash);
    const { gasPrice } = await this.world.client.getTransaction({ hash });
    const drawn = BigInt(before?.bond ?? this.state.bond) - BigInt(this.state.bond);
    const spent = BigInt(this.state.spent) - BigInt(before?.spent ?? 0n);
    this.paid = drawn / gasPrice! + spent / BASE_FEE;
    return this;
  }
}
