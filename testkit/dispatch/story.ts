import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatEther, parseTransaction, toFunctionSelector, type Address, type Hex } from "viem";
import { protocolAbi, type ClaimRecord, type History } from "../../src/chain/market/history.ts";
import { readNpy } from "../../src/model/onnx/inputs/npy.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import type { KnownProgram } from "../../src/dispute/run/execution.ts";
import type { WorkerEvent } from "../../src/parties/worker/events.ts";
import { serveRpc } from "../nodes/rpcServer.ts";
import type { Players } from "../players/players.ts";
import { DispatchProcess } from "./dispatchProcess.ts";
import { passTime } from "./passTime.ts";
import { startServer } from "./servers.ts";
import type { Execute } from "../../src/runs/execute.ts";

/** A batch that `refute job dispatch` has computed. */
export type DispatchStory = {
  /** The program, compiled as a batch with a single input and output. */
  program: KnownProgram;
  model: Uint8Array;
  /** With which the command compiles the same. */
  modelFlags: readonly string[];
  inputs: readonly Uint8Array[];
  partItems: number;
  openJobs: number;
  /** The fee per part, wei. */
  fee: bigint;
  /** The probability with which a claim is checked. */
  check: number;
  honest: Execute;
  lying: Execute;
  /**
   * The number of kills by called function. Each kill follows just after the dispatcher has sent a transaction with the
   * function.
   */
  kills: Readonly<Record<string, number>>;
  /** Longest wait for the worker that dies to claim anything, milliseconds. */
  limitMs: number;
  /** How often everybody looks at the chain, milliseconds. */
  intervalMs: number;
  /** Hears now and then how far it is. */
  onLook?: (history: History) => void;
};

/** The result of a dispatch story. */
type DispatchStoryResult = {
  status: number | null;
  stderr: string;
  /** The command's printed answer. */
  answer: { fee: string; gas: number; parts: DispatchedPart[]; checks: Record<string, number> };
  output: TensorData;
  history: History;
  workers: Record<"liar" | "slow" | "dead" | "honest", Address>;
  /** Processes of the dispatcher. */
  lives: number;
};

/** A part, as the command prints it. */
type DispatchedPart = {
  first: number;
  items: number;
  worker: Address;
  source: string;
  attempts: number;
  fee: string;
  gas: number;
};

/**
 * Plays a batch with four workers: a liar, a worker that exceeds a claim's time limit, a worker that dies while holding
 * a job, and an honest worker. A watcher watches. The test kills the dispatcher's process now and then, just after a
 * transaction.
 * @throws the command's error output, if the command fails
 */
export async function playDispatch(players: Players, story: DispatchStory): Promise<DispatchStoryResult> {
  const { chain } = players;
  const { program, honest, lying, inputs, partItems, fee, limitMs, intervalMs, onLook } = story;
  const folder = mkdtempSync(join(tmpdir(), "refute-dispatch-"));
  let letGo: () => void = () => undefined;
  const late = new Promise<void>((resolve) => (letGo = resolve));
  const slowly: Execute = async (...args) => {
    await late;
    return honest(...args);
  };
  const servers = {
    liar: await startServer(players, program, lying, {}, { intervalMs }),
    slow: await startServer(players, program, slowly, {}, { intervalMs }),
    dead: await startServer(players, program, slowly, {}, { intervalMs }),
    honest: await startServer(players, program, honest, {}, { intervalMs }),
  };
  const all = Object.values(servers);
  const watcher = await players.startWatcher(await players.watcherKey(), program, honest, { intervalMs });
  servers.dead.worker.inbox
    .first("claimed", (event): event is WorkerEvent => event.kind === "claimed", limitMs)
    .then(
      () => servers.dead.stop(),
      () => undefined,
    );
  const parts = Math.ceil(inputs.length / partItems);
  const requester = await chain.newAccount(2n * BigInt(parts) * fee);
  const kills = new Map(Object.entries(story.kills));
  const rpc = await serveRpc(chain.provider, async ({ method, params }, pass) => {
    const answer = await pass();
    if (method !== "eth_sendRawTransaction") return answer;
    const name = functionOf(params![0] as Hex);
    const left = kills.get(name) ?? 0;
    if (left === 0) return answer;
    kills.set(name, left - 1);
    dispatcher.kill();
    throw new Error("nobody hears this");
  });
  mkdirSync(join(folder, "x"));
  writeFileSync(join(folder, "model.onnx"), story.model);
  inputs.forEach((bytes, item) => writeFileSync(join(folder, "x", `${item}.bin`), bytes));
  const [input, output] = [program.model.inputs[0]!.name, program.model.outputs[0]!.name];
  const flags = {
    "--input": `${input}=${join(folder, "x")}`,
    "--output": `${output}=${join(folder, "y.npy")}`,
    "--state": join(folder, "state.db"),
    "--part-items": String(partItems),
    "--fee": formatEther(fee),
    "--budget": formatEther(2n * BigInt(parts) * fee),
    "--open-jobs": String(story.openJobs),
    "--check": String(story.check),
    "--claim-seconds": "1200",
    "--open-seconds": "80000",
    "--withheld-seconds": "1",
    "--interval": String(Math.max(200, intervalMs) / 1_000),
    "--rpc-url": rpc.url,
    "--chain-id": String(chain.chainId),
    "--market": chain.market,
  };
  const from = all.flatMap(({ url }) => ["--from", url]);
  const command = ["job", "dispatch", join(folder, "model.onnx"), "--batch", ...story.modelFlags, "--json", ...from];
  const dispatcher = new DispatchProcess([...command, ...Object.entries(flags).flat()], requester);
  const addressOf = (name: keyof typeof servers): Address => players.addressOf(servers[name].key);
  const over = new AbortController();
  const isWrong = ({ claim }: ClaimRecord): boolean => claim.worker === addressOf("liar");
  const cast = { idle: new Set([addressOf("slow"), addressOf("dead")]), isWrong };
  const time = passTime(players, cast, over.signal, { intervalMs, ...(onLook && { onLook }) });
  try {
    const { status, stdout, stderr } = await dispatcher.run();
    over.abort();
    if (status !== 0) throw new Error(`refute job dispatch ends with ${status}: ${stderr}`);
    return {
      ...{ status, stderr, history: await time, lives: dispatcher.lives },
      answer: JSON.parse(stdout) as DispatchStoryResult["answer"],
      output: readNpy(readFileSync(join(folder, "y.npy")), "y.npy"),
      workers: {
        ...{ liar: addressOf("liar"), slow: addressOf("slow") },
        ...{ dead: addressOf("dead"), honest: addressOf("honest") },
      },
    };
  } finally {
    over.abort();
    letGo();
    await Promise.all([...all.map(({ stop }) => stop()), watcher.stop(), time.catch(() => undefined)]);
    await rpc.close();
    rmSync(folder, { recursive: true });
  }
}

/** The function that a signed transaction calls; empty if it is none of the market's. */
function functionOf(raw: Hex): string {
  const selector = parseTransaction(raw).data!.slice(0, 10);
  const called = protocolAbi.find((item) => item.type === "function" && toFunctionSelector(item) === selector);
  return called?.type === "function" ? called.name : "";
}

/**
 * Lists the faults in a story's end, in words. The list is empty if the outputs are complete and in order, each part
 * was paid exactly once and nothing else was paid, no lie became final, and no right claim was refuted.
 * @param right The outputs of all items, in item order.
 */
export function faultsOf(
  { output, history, workers, answer }: DispatchStoryResult,
  { inputs, partItems, fee }: DispatchStory,
  right: Uint8Array,
): string[] {
  const parts = Math.ceil(inputs.length / partItems);
  const jobs = [...history.jobs.values()];
  const claims = jobs.flatMap((job) => job.claims);
  const paid = jobs.filter((job) => job.claims.some((claim) => claim.paid));
  const faults: [boolean, string][] = [
    [output.shape[0] !== inputs.length, `${output.shape[0]} outputs for ${inputs.length} items`],
    [!Buffer.from(output.bytes).equals(right), "an output is wrong, or at another place"],
    [paid.length !== parts, `${paid.length} jobs are paid for ${parts} parts`],
    [new Set(paid.map(({ inputRoots }) => inputRoots.join())).size !== parts, "a part is paid twice"],
    [jobs.some((job) => !job.closed && !paid.includes(job)), "a job is neither closed nor paid"],
    [BigInt(answer.fee) !== BigInt(parts) * fee, `fees of ${answer.fee}`],
    [claims.some(({ claim, finalised }) => claim.worker === workers.liar && finalised), "a lie is final"],
    [claims.some(({ claim, refuted }) => claim.worker !== workers.liar && refuted), "a right claim is refuted"],
  ];
  return faults.flatMap(([isSo, what]) => (isSo ? [what] : []));
}
