type Provider = { request: (request: { method: string; params?: unknown[] }) => Promise<unknown> };

/** Reorganises an embedded chain: takes blocks back, and puts others in their place. */
export class Rewinder {
  readonly #provider: Provider;
  readonly #snapshots: { block: number; id: unknown }[] = [];
  #stopped = false;
  #watching: Promise<void> = Promise.resolve();

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  /** Remembers each block from now on. */
  start(): void {
    this.#stopped = false;
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#watching;
  }

  /** Takes back at least `depth` blocks (all that are remembered, if they are fewer), and mines more empty ones. @returns How many. */
  async rewind(depth: number): Promise<number> {
    await this.stop();
    const head = await this.#block();
    while (this.#snapshots.length > 1 && this.#snapshots.at(-1)!.block > head - depth) this.#snapshots.pop();
    const { id, block } = this.#snapshots.pop()!;
    await this.#provider.request({ method: "evm_revert", params: [id] });
    await this.#provider.request({ method: "hardhat_mine", params: [`0x${(head - block + 1).toString(16)}`] });
    return head - block;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      const block = await this.#block();
      if (block !== this.#snapshots.at(-1)?.block) {
        this.#snapshots.push({ block, id: await this.#provider.request({ method: "evm_snapshot" }) });
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #block(): Promise<number> {
    return Number(await this.#provider.request({ method: "eth_blockNumber" }));
  }
}
