import type { Hex } from "viem";
import { hopOf } from "../../src/chain/market/revealLevels.ts";
import { packState, unpackState, type GameState } from "../../src/chain/market/state.ts";
import { Level, NO_CHECKPOINT, NO_PICK, NO_PROGRAM, NO_STEP, ZERO_HASH } from "../../src/chain/structs.ts";
import type { Claim, ClaimKey, PackedState, Pick, StepProof } from "../../src/chain/structs.ts";
import { toHex } from "../../src/program/merkle/hash.ts";
import type { MerkleList } from "../../src/program/merkle/list.ts";
import { CHUNK_BYTES } from "../../src/program/merkle/sizes.ts";
import { chunkOf, tensorTree } from "../../src/program/merkle/tensor.ts";
import { dtypeBytes } from "../../src/numerics/dtype.ts";
import { constantBytes } from "../../src/program/constants.ts";
import { encodeStepBody } from "../../src/program/encode.ts";
import { sha256 } from "../../src/program/merkle/hash.ts";
import { openElement, type OpenableTensor } from "../../src/program/trace/opening.ts";
import type { Trace } from "../../src/program/trace/trace.ts";
import { claimContentOf } from "../../src/chain/market/ids.ts";
import { claimKey, factsOf, gameEvents, gasOf } from "./world.ts";
import type { GameProgram } from "./chainProgram.ts";
import type { Actor, World } from "./deployWorld.ts";

/** Plays a game against a claim and follows the game's state. The test holds the claim's whole trace. */
export class GameDriver {
  gameId: Hex = "0x";
  state!: GameState;
  /** The disputed checkpoint, once a trace leaf is picked. */
  checkpoint = 0;
  readonly gas: { move: string; gas: bigint; hash: Hex }[] = [];

  readonly world: World;
  readonly subject: GameProgram;
  readonly trace: Trace;
  readonly claim: Claim;
  readonly challenger: Actor;

  constructor(world: World, subject: GameProgram, trace: Trace, claim: Claim, challenger: Actor = world.watcher) {
    this.world = world;
    this.subject = subject;
    this.trace = trace;
    this.claim = claim;
    this.challenger = challenger;
  }

  /** The state as calls bring it. */
  get packed(): PackedState {
    return packState(this.state);
  }

  get key(): ClaimKey {
    return claimKey(this.world, this.claim);
  }

  /** Opens at node `index`, `levels` below the trace root, under a number of that node. */
  async open(levels = 0, index = 0): Promise<this> {
    await this.run(
      "open",
      this.world.game.write.open(this.openArgs(levels, index), { account: this.challenger.account }),
    );
    return this;
  }

  openArgs(levels: number, index: number): [Claim, number, Pick] {
    const list = this.trace.list;
    const height = list.depth - levels;
    this.checkpoint = index;
    const seam = height === 0 ? this.checkpointSeam(index) : { checkpoint: NO_CHECKPOINT, step: NO_STEP };
    return [
      this.claim,
      numberOf(levels, index),
      {
        index: BigInt(index),
        node: list.node(height, index),
        siblings: list.path(index, height),
        program: factsOf(this.subject.commitment),
        ...seam,
      },
    ];
  }

  /** The node's children, or the chunk. */
  revealData(): Hex {
    const { depth, index, level, step } = this.state;
    if (depth === 0 && level === Level.tensor) return toHex(chunkOf(this.trace.tensor(step), index));
    const hop = hopOf(depth, this.world.parameters.arityBits);
    return joined(nodes(this.list(), depth - hop, index * 2 ** hop, 2 ** hop));
  }

  async reveal(by: Actor = this.world.worker): Promise<this> {
    const args = [this.packed, this.revealData()] as const;
    await this.run("reveal", this.world.game.write.reveal(args, { account: by.account }));
    return this;
  }

  /** Returns the pick for the node `levels` below the current node that covers leaf `leaf`. */
  pickArgs(leaf: number, levels: number): Pick {
    const { depth, level, first } = this.state;
    const height = depth - levels;
    const index = Math.floor(leaf / 2 ** height);
    const seam =
      height !== 0 || level === Level.tensor
        ? { program: NO_PROGRAM, checkpoint: NO_CHECKPOINT, step: NO_STEP }
        : {
            program: factsOf(this.subject.commitment),
            ...(level === Level.trace
              ? this.checkpointSeam(index)
              : { checkpoint: NO_CHECKPOINT, step: this.stepOpening(first + index) }),
          };
    if (level === Level.trace && height === 0) this.checkpoint = index;
    const list = this.list();
    return { index: BigInt(index), node: list.node(height, index), siblings: list.path(index, height, depth), ...seam };
  }

  async pick(leaf: number, levels: number): Promise<this> {
    const args = [this.packed, this.pickArgs(leaf, levels)] as const;
    await this.run("pick", this.world.game.write.pick(args, { account: this.challenger.account }));
    return this;
  }

  expandArgs(): [Hex, Hex[]] {
    const interior = this.trace.interior(this.checkpoint);
    const hop = hopOf(interior.depth, this.world.parameters.arityBits);
    const height = interior.depth - hop;
    return [joined(nodes(interior, height, 0, 2 ** hop)), interior.path(interior.width - 1, 0, height)];
  }

  async expand(): Promise<this> {
    const args = [this.packed, claimContentOf(this.key), ...this.expandArgs()] as const;
    await this.run("expand", this.world.game.write.expand(args, { account: this.world.worker.account }));
    return this;
  }

  /** The step proof of an element of the tensor in dispute, from the worker's own tensors. */
  proof(element: number): StepProof {
    const { step: s, depth, first } = this.state;
    const pick = { ...NO_PICK, program: factsOf(this.subject.commitment), step: this.stepOpening(s) };
    return this.proofAt(pick, s, depth, first, element);
  }

  /**
   * The proof that picks the tensor of step `s`, below the current node of the trace (`leaf` a checkpoint) or interior,
   * in the same call.
   */
  pickAndProof(leaf: number, s: number, element: number): StepProof {
    const pick = this.pickArgs(leaf, this.state.depth);
    const first = this.state.level === Level.interior ? this.state.first : s;
    return this.proofAt(pick, s, this.trace.tree(s).depth, first, element);
  }

  private proofAt(pick: Pick, s: number, depth: number, first: number, element: number): StepProof {
    const step = this.subject.program.steps[s]!;
    const chunk = this.chunkOfElement(s, element);
    const tree = this.trace.tree(s);
    const openable: OpenableTensor[] = step.inputs.map((ref) => {
      if (ref.kind === "constant") return tensor(constantBytes(this.subject.model.constants, ref));
      return tensor(ref.kind === "input" ? this.subject.input : this.trace.tensor(ref.index));
    });
    const { openings } = openElement(step, element, openable);
    return {
      pick,
      body: toHex(encodeStepBody(step)),
      element: BigInt(element),
      chunk: toHex(chunkOf(this.trace.tensor(s), chunk)),
      chunkSiblings: tree.path(chunk, 0, depth),
      previous: ZERO_HASH,
      previousSiblings: [],
      inputs: step.inputs.map((ref) => {
        const none = { root: NO_STEP.bodyHash, siblings: [], checkpointIndex: 0, checkpoint: NO_CHECKPOINT };
        if (ref.kind === "constant") return none;
        if (ref.kind === "input") {
          return {
            ...none,
            root: this.subject.inputsList.node(0, ref.index),
            siblings: this.subject.inputsList.path(ref.index),
          };
        }
        const { root } = this.trace.tree(ref.index);
        if (ref.index >= first) {
          return { ...none, root, siblings: this.trace.interior(this.checkpoint).path(ref.index - first) };
        }
        const j = this.subject.program.checkpoints.findIndex((c) => c.step === ref.index);
        const { checkpoint } = this.checkpointSeam(j);
        return { root, siblings: this.trace.list.path(j), checkpointIndex: j, checkpoint };
      }),
      openings,
    };
  }

  async prove(element: number, proof: StepProof = this.proof(element)): Promise<this> {
    const args = [this.packed, this.claim, proof] as const;
    await this.run("prove", this.world.game.write.prove(args, { account: this.challenger.account }));
    return this;
  }

  private chunkOfElement(step: number, element: number): number {
    return Math.floor((element * dtypeBytes(this.subject.program.steps[step]!.dtype)) / CHUNK_BYTES);
  }

  /** Plays both sides, down to the chunk that holds the element. The challenger knows only revealed nodes. */
  async descend(checkpoint: number, step: number, element: number): Promise<this> {
    const leaf = (): number =>
      this.state.level === Level.trace
        ? checkpoint
        : this.state.level === Level.interior
          ? step - this.state.first
          : this.chunkOfElement(step, element);
    if (this.gameId === "0x") await this.open(0, 0);
    for (;;) {
      const { depth, level } = this.state;
      if (this.state.turn === 1) {
        if (depth === 0) return this;
        await this.pick(leaf(), hopOf(depth, this.world.parameters.arityBits));
      } else if (depth === 0 && level === Level.trace) await this.expand();
      else await this.reveal();
    }
  }

  async concede(by: Actor): Promise<this> {
    await this.run("concede", this.world.game.write.concede([this.packed, this.key], { account: by.account }));
    return this;
  }

  async timeout(by: Actor): Promise<this> {
    await this.run("timeout", this.world.game.write.timeout([this.packed, this.key], { account: by.account }));
    return this;
  }

  async settle(by: Actor): Promise<this> {
    await this.run("settle", this.world.game.write.settle([this.packed], { account: by.account }));
    return this;
  }

  /** The list that the game is in. */
  list(): MerkleList {
    if (this.state.level === Level.trace) return this.trace.list;
    return this.state.level === Level.interior
      ? this.trace.interior(this.checkpoint)
      : this.trace.tree(this.state.step);
  }

  stepOpening(s: number): Pick["step"] {
    const step = this.subject.program.steps[s]!;
    return {
      dtype: step.dtype,
      count: BigInt(step.count),
      bodyHash: toHex(sha256(encodeStepBody(step))),
      siblings: this.subject.commitment.steps.path(s),
    };
  }

  private checkpointSeam(j: number): { checkpoint: Pick["checkpoint"]; step: Pick["step"] } {
    const checkpoint = this.subject.program.checkpoints[j]!;
    return {
      checkpoint: { ...checkpoint, siblings: this.subject.commitment.checkpoints.path(j) },
      step: checkpoint.first === checkpoint.step ? this.stepOpening(checkpoint.step) : NO_STEP,
    };
  }

  /** Takes the state from the events of a transaction. */
  async run(move: string, sent: Promise<Hex>): Promise<void> {
    const hash = await sent;
    this.gas.push({ move, gas: await gasOf(this.world, hash), hash });
    for (const event of await gameEvents(this.world, hash)) {
      if (event.eventName !== "Moved" && event.eventName !== "Picked") continue;
      this.gameId = event.args.gameId;
      this.state = unpackState(event.args.state);
    }
  }
}

/** Returns a game number for the node at which the game opens. Each node of a list gets another number. */
export const numberOf = (levels: number, index: number): number => 2 ** levels + index;

const nodes = (list: MerkleList, height: number, from: number, count: number): Hex[] =>
  Array.from({ length: count }, (_, i) => list.node(height, from + i));
const joined = (parts: readonly Hex[]): Hex => `0x${parts.map((p) => p.slice(2)).join("")}`;

function tensor(bytes: Uint8Array): OpenableTensor {
  const tree = tensorTree(bytes);
  return { bytes, tree: () => tree };
}
