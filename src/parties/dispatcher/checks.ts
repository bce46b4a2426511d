import { randomInt } from "node:crypto";
import { concatHex, isHex, keccak256, type Hex } from "viem";
import { inTurn } from "../../base/inTurn.ts";
import { formOf } from "../../chain/market/claimForm.ts";
import type { ClaimRecord } from "../../chain/market/history.ts";
import type { BatchPart } from "./batch.ts";
import { hasInputs, inputsOf } from "./chainedParts.ts";
import { DispatchInputError } from "./errors.ts";
import { computedOutputs, executePart } from "./executePart.ts";
import type { DispatchOptions } from "./options.ts";
import type { PartOutputs } from "./partOutputs.ts";

/** Draws are made of so many. */
const LOTS = 1_000_000;

/** Hexadecimal characters for 32 bytes, with 0x. */
const SECRET_LENGTH = 66;

/**
 * Checks a secret for draws, if given.
 * @throws DispatchInputError without the secret's characters
 */
export function requireSecret({ checkSecret }: Pick<DispatchOptions, "checkSecret">): void {
  if (checkSecret === undefined || (isHex(checkSecret) && checkSecret.length === SECRET_LENGTH)) return;
  throw new DispatchInputError("checkSecret: expected 32 random bytes, as 0x and 64 hexadecimal digits");
}

/** Returns a claim's lot, below {@link LOTS}. */
const lotOf = (claim: Hex, secret: Hex | undefined): number =>
  secret === undefined ? randomInt(LOTS) : Number(BigInt(keccak256(concatHex([secret, claim]))) % BigInt(LOTS));

/** Executes parts exactly, one at a time: the parts of drawn claims, and the parts without served outputs. */
export class Checks {
  readonly #options: DispatchOptions;
  readonly #outputs: PartOutputs;
  readonly #turn = inTurn();
  /** The claims whose part waits for execution or runs now. */
  readonly #running = new Set<string>();

  constructor(options: DispatchOptions, outputs: PartOutputs) {
    [this.#options, this.#outputs] = [options, outputs];
  }

  /**
   * Draws once for each claim whether to check the claim. A worker that has submitted cannot know the draw before. A
   * claim on a part whose inputs are not known yet is drawn later.
   * @returns the check, if the claim is drawn and still unchecked
   */
  take(part: BatchPart, claim: ClaimRecord): (() => Promise<void>) | undefined {
    const { batch, store, checkShare, checkSecret } = this.#options;
    if (!hasInputs(batch, store, part)) return undefined;
    if (store.check(claim.id) === undefined)
      store.checked(part.number, claim.id, lotOf(claim.id, checkSecret) < checkShare * LOTS ? "drawn" : "passed over");
    if (store.check(claim.id) !== "drawn" || this.#running.has(claim.id)) return undefined;
    return () => this.#execute(part, claim, false);
  }

  /** Computes all outputs of a part locally, in place of the outputs named by a claim on the part. */
  compute(part: BatchPart, claim: ClaimRecord): Promise<void> {
    return this.#execute(part, claim, true);
  }

  async #execute(part: BatchPart, claim: ClaimRecord, isKept: boolean): Promise<void> {
    const { batch, store, execute, onEvent } = this.#options;
    this.#running.add(claim.id);
    try {
      await this.#turn(async () => {
        const inputs = inputsOf(batch, store, part);
        const run = await executePart(batch, part, inputs, execute, formOf(claim.claim.job));
        const { worker, root } = claim.claim;
        const isRight = run.root === root;
        store.checked(part.number, claim.id, isRight ? "right" : "wrong");
        const about = { part: part.number, worker, claim: claim.id, isRight, windowEnd: claim.windowEnd };
        onEvent?.({ kind: "checked", ...about });
        // The next part of a chain begins with the final states of a right claim.
        if (!isKept && !(batch.isChained && isRight)) return;
        for (let item = 0; item < part.items; item++) {
          const asked = this.#outputs.of(part, item);
          if (asked.length === 0) continue;
          store.keep(part.number, claim.id, item, await computedOutputs(run, item, asked, execute));
        }
        store.markComputed(claim.id);
      });
    } finally {
      this.#running.delete(claim.id);
    }
  }
}
