import { createServer, type AddressInfo } from "node:net";
import { decodeFunctionData, parseTransaction, type Address, type Hex } from "viem";
import { protocolAbi, type JobRecord } from "../../src/chain/market/history.ts";
import type { RpcRequest } from "../nodes/rpcServer.ts";
import type { RefuteProcess } from "../processes/refuteProcess.ts";

/** A worker's process, killed just after claiming a share, and started again once the job is late. */
export class MortalWorker {
  readonly address: Address;
  readonly #step: number;
  #process: RefuteProcess | undefined;
  /** The step under way. */
  #now = 0;
  #state: "alive" | "dead" | "back" = "alive";

  /** @param step When the process is killed. */
  constructor(address: Address, step: number) {
    [this.address, this.#step] = [address, step];
  }

  /** Takes the process. Requests go through {@link through}. */
  take(process: RefuteProcess): void {
    this.#process = process;
  }

  get isDead(): boolean {
    return this.#state === "dead";
  }

  /** Kills the process after its claim. */
  readonly through = async ({ method, params }: RpcRequest, pass: () => Promise<unknown>): Promise<unknown> => {
    const answer = await pass();
    if (this.#state !== "alive" || this.#now < this.#step || method !== "eth_sendRawTransaction") return answer;
    const { data } = parseTransaction(params![0] as Hex);
    if (!decodeFunctionData({ abi: protocolAbi, data: data! }).functionName.startsWith("claim")) return answer;
    this.#state = "dead";
    await this.#process!.kill();
    return answer;
  };

  /** Looks at the jobs; starts the process again after others may take the job. */
  look(jobs: readonly JobRecord[], step: number): void {
    this.#now = step;
    if (!this.isDead || !jobs.some(({ late }) => late.has(this.address))) return;
    this.#state = "back";
    void this.#process!.start();
  }
}

/** A port that nobody has. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
