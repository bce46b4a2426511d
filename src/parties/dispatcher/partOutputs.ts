import { hexToBytes, type Hex } from "viem";
import type { ClaimRecord, JobRecord } from "../../chain/market/history.ts";
import { claimedOutputs } from "../requester/itemOutputs.ts";
import type { Batch, BatchPart } from "./batch.ts";
import type { BytesSource, DispatchStore } from "./store.ts";

/** The bytes of parts: the required outputs, and the sources of the bytes. */
export class PartOutputs {
  readonly #batch: Batch;
  readonly #store: DispatchStore;
  /** URLs for the workers' servers, starting with the last server that answered. */
  #urls: readonly string[];

  constructor(batch: Batch, store: DispatchStore, urls: readonly string[]) {
    [this.#batch, this.#store, this.#urls] = [batch, store, urls];
  }

  /**
   * Returns the outputs that a part has for an item: for the last item all outputs, for other items the outputs of each
   * item.
   */
  of({ items }: BatchPart, item: number): number[] {
    const { outputs, each = [] } = this.#batch.program.model.program;
    return outputs.flatMap((_, output) => (item === items - 1 || each.includes(output) ? [output] : []));
  }

  /** Whether all outputs of a part were delivered on chain. */
  #areDelivered(part: BatchPart, { delivered }: ClaimRecord): boolean {
    return Array.from({ length: part.items }, (_, item) => item).every((item) =>
      this.of(part, item).every((output) => item === part.items - 1 && delivered.has(output)),
    );
  }

  /** Where the bytes of a part come from. */
  source(part: BatchPart, claim: ClaimRecord): BytesSource {
    if (this.#store.check(claim.id) === "wrong") return "computed here, the claim is wrong";
    if (this.#store.isComputed(claim.id)) return "computed here";
    return this.#areDelivered(part, claim) ? "chain" : "worker";
  }

  /** Returns the items with missing bytes under a claim. */
  missing(part: BatchPart, claim: Hex): number[] {
    return Array.from({ length: part.items }, (_, item) => item).filter((item) =>
      this.of(part, item).some((output) => !this.#store.hasOutput(part.number, claim, item, output)),
    );
  }

  /** Takes what was delivered on chain. */
  takeDelivered(part: BatchPart, { id, delivered }: ClaimRecord): void {
    const item = part.items - 1;
    const fresh = [...delivered].filter(([output]) => !this.#store.hasOutput(part.number, id, item, output));
    if (fresh.length > 0)
      this.#store.keep(part.number, id, item, new Map(fresh.map(([output, data]) => [output, hexToBytes(data)])));
  }

  /**
   * Fetches missing outputs from the workers' servers, as far as available, and checks the outputs against the claim.
   */
  async fetch(part: BatchPart, job: JobRecord, claim: ClaimRecord, signal?: AbortSignal): Promise<void> {
    for (const item of this.missing(part, claim.id)) {
      const outputs = signal?.aborted === true ? undefined : await this.#served(job, claim, item);
      if (outputs === undefined) return;
      this.#store.keep(part.number, claim.id, item, outputs);
    }
  }

  async #served(
    job: JobRecord,
    claim: ClaimRecord,
    item: number,
  ): Promise<ReadonlyMap<number, Uint8Array> | undefined> {
    for (const url of this.#urls) {
      // A server without the claim answers at once. The reason for no answer does not matter: the next round asks
      // again.
      const found = await claimedOutputs(job, claim, { item, url }).catch(() => undefined);
      if (found === undefined) continue;
      this.#urls = [url, ...this.#urls.filter((other) => other !== url)];
      return found.outputs;
    }
    return undefined;
  }
}
