import { openable, type Execution } from "../../dispute/run/execution.ts";
import { ZERO_HASH } from "../../chain/structs.ts";
import { getOrAdd } from "../../base/getOrAdd.ts";
import { toHex } from "../../program/merkle/hash.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { encodeStepBody } from "../../program/encode.ts";
import { estimateStepProofGas } from "../../program/gas.ts";
import { openElement, type OpenableTensor } from "../../program/trace/opening.ts";
import type { MerkleList } from "../../program/merkle/list.ts";
import type { ElementProof } from "../../chain/clients/stepVerifier.ts";
import type { ChainVerifier } from "./chainVerifier.ts";
import type { Sample } from "./draw.ts";
import type { Random } from "./random.ts";

/** The chain's verdict on one element. */
export type Verdict = Sample & {
  node: string;
  operator: string;
  /**
   * The element's value, from the execution and from the contract: unsigned, of the element's size; undefined if the
   * contract refused the proof.
   */
  own: bigint;
  exact: bigint | undefined;
  agrees: boolean;
  /** Whether the claim with one bit changed was found wrong. */
  claimCaught: boolean;
  /** True if the proof was refused after changing one bit in an opened chunk; undefined if the step opens no chunk. */
  openingCaught: boolean | undefined;
  /** Gas of the verifier's part in a separate transaction, and the estimate for the whole step proof. */
  gas: number;
  estimate: number;
};

/** Has the chain judge elements of an execution, and the same elements tampered with. */
export class ElementAuditor {
  readonly #verifier: ChainVerifier;
  readonly #execution: Execution;
  readonly #random: Random;
  readonly #trees = new Map<string, OpenableTensor>();

  constructor(verifier: ChainVerifier, execution: Execution, random: Random) {
    this.#verifier = verifier;
    this.#execution = execution;
    this.#random = random;
  }

  async judge(sample: Sample): Promise<Verdict> {
    const { model, trace } = this.#execution;
    const step = model.program.steps[sample.step]!;
    const proof = this.#prove(sample);
    const size = dtypeBytes(step.dtype);
    const bits = size * 8;
    const claimed = trace.tensor(sample.step).subarray(sample.element * size, (sample.element + 1) * size);
    const own = littleEndian(claimed);
    const word = await this.#verifier.evaluate(proof);
    const exact = word === undefined ? undefined : BigInt.asUintN(bits, word);
    const tampered = own ^ (1n << BigInt(this.#random(bits)));
    const forged = this.#forge(proof);
    return {
      ...sample,
      ...model.origins[sample.step]!,
      own,
      exact,
      agrees: exact === own,
      // The game's rule: a claim is wrong if any bit differs (contracts/game/DisputeGame.sol, prove).
      claimCaught: exact !== undefined && tampered !== exact,
      openingCaught: forged && (await this.#verifier.evaluate(forged)) === undefined,
      gas: await this.#verifier.transactionGas(proof),
      estimate: estimateStepProofGas(step),
    };
  }

  #prove({ step: s, element }: Sample): ElementProof {
    const step = this.#execution.model.program.steps[s]!;
    const inputs = step.inputs.map((ref) => this.#openable(ref));
    const { openings } = openElement(step, element, inputs);
    const roots = step.inputs.map((ref, k) => (ref.kind === "constant" ? ZERO_HASH : inputs[k]!.tree().root));
    return [toHex(encodeStepBody(step)), BigInt(element), roots, openings];
  }

  /** Trees of inputs and constants are kept: the samples share them. */
  #openable(ref: Parameters<typeof openable>[1]): OpenableTensor {
    return getOrAdd(this.#trees, JSON.stringify(ref), () => {
      const { bytes, tree } = openable(this.#execution, ref);
      let known: MerkleList | undefined;
      return { bytes, tree: () => (known ??= tree()) };
    });
  }

  /** Returns the proof with one bit changed in an opened chunk; undefined if the proof opens no chunk. */
  #forge([body, element, roots, openings]: ElementProof): ElementProof | undefined {
    const opened = openings.flatMap(({ indices }, k) => (indices.length > 0 ? [k] : []));
    if (opened.length === 0) return undefined;
    const target = opened[this.#random(opened.length)]!;
    const forged = openings.map((opening, k) => (k === target ? this.#flipBit(opening) : opening));
    return [body, element, roots, forged];
  }

  #flipBit(opening: ElementProof[3][number]): ElementProof[3][number] {
    const chunks = Buffer.from(opening.chunks.slice(2), "hex");
    const at = this.#random(chunks.length);
    chunks[at] = chunks[at]! ^ (1 << this.#random(8));
    return { ...opening, chunks: toHex(chunks) };
  }
}

const littleEndian = (bytes: Uint8Array): bigint => bytes.reduceRight((word, byte) => (word << 8n) | BigInt(byte), 0n);
