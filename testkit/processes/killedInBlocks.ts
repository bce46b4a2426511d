import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Hex } from "viem";
import { compile } from "../../src/compiler/compile.ts";
import { decoderInputs } from "../../src/compiler/wraps/decoderInputs.ts";
import { wrapDecoder } from "../../src/compiler/wraps/wrapDecoder.ts";
import { followMarket } from "../../src/chain/market/session.ts";
import { knownProgram, type KnownProgram } from "../../src/dispute/run/execution.ts";
import { ROOTS } from "../../src/dispute/run/storedRun.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { executeRun } from "../../src/runs/executeRun.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { gpt2Decoder } from "../models/gpt2.ts";
import { serveRpc } from "../nodes/rpcServer.ts";
import type { Players } from "../players/players.ts";
import { RefuteProcess, type ServedModel } from "./refuteProcess.ts";

/** Three blocks of 64 items, and the rest. A block takes some hundred milliseconds. */
const PROMPT = 200;
const SLOTS = 204;
const SHAPE = { layers: 4, width: 768, heads: 12, tokens: SLOTS, vocabulary: 4_000 };
/** How long a wait may take. */
const LIMIT_MS = 300_000;

/** A text with a long prompt. */
type Text = { served: ServedModel; program: KnownProgram; inputs: RunInputs; root: Hex };

/** Makes a text whose items are executed in blocks, and executes it item by item. */
export async function longPrompt(): Promise<Text> {
  const decoder = { slots: SLOTS, greedy: true } as const;
  const bytes = gpt2Decoder(SHAPE);
  const { model: wrapped, run } = wrapDecoder(readModel(bytes), decoder);
  const model = compile(wrapped, { shapes: {}, run });
  const prompt = Array.from({ length: PROMPT }, (_, k) => (7_919 * k + 13) % SHAPE.vocabulary);
  const length = { items: SLOTS, firstItem: 0 };
  const inputs = new RunInputs(model.program.inputs, length, decoderInputs(model, { prompt }));
  const program = knownProgram(model);
  const executors = new FastExecutors({ threads: 1 });
  const alone: Execute = (...args) => executors.execute(...args);
  const { root } = await executeRun(program, inputs, alone);
  await executors.close();
  return { served: { bytes, decoder }, program, inputs, root };
}

/** Waits for a value. @throws Error after a time */
async function until<T>(what: string, pauseMs: number, find: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const begun = Date.now(); Date.now() - begun < LIMIT_MS; await sleep(pauseMs)) {
    const found = await find();
    if (found !== undefined) return found;
  }
  throw new Error(`no ${what} in time`);
}

/**
 * Plays a role and kills the process in the middle of a text's second block, several times.
 * @param command The role's command.
 * @param isDone Whether the role has done its work, by what it printed and by the claimed roots.
 * @returns for each killed life the states that were kept then: the items at which blocks began
 * @throws Error if the role does not go on, or if a run was over before it was killed
 */
export async function killedInBlocks(
  {
    players,
    key,
    text,
    command,
    jobId,
    kills,
  }: {
    players: Players;
    key: Hex;
    text: Text;
    command: readonly string[];
    jobId: Hex;
    kills: number;
  },
  isDone: (output: string, claimed: readonly Hex[]) => boolean,
): Promise<number[][]> {
  const { chain } = players;
  const rpc = await serveRpc(chain.provider);
  const flags = ["--rpc-url", rpc.url, "--chain-id", String(chain.chainId), "--market", chain.market];
  const party = new RefuteProcess([...command, ...flags, "--interval", "0.1"], key, [text.served]);
  const follow = followMarket(await chain.newSession());
  const killed: number[][] = [];
  try {
    for (let life = 0; life < kills; life++) {
      await party.start();
      const began = party.startedAt.at(-1)!;
      await until("block", 1, () => filesOf(party.cache, jobId).find(({ at }) => at > began));
      await party.kill();
      const own = filesOf(party.cache, jobId).filter(({ at }) => at > began);
      if (own.some(({ name }) => name === ROOTS)) throw new Error("the run was over before the process was killed");
      killed.push(own.map(({ name }) => Number(name)).sort((a, b) => a - b));
    }
    await party.start();
    await until("end", 50, async () => {
      const { history } = await follow();
      const claimed = history.jobs.get(jobId)!.claims.map(({ claim }) => claim.root);
      return isDone(party.output, claimed) || undefined;
    });
  } finally {
    await party.end();
    await rpc.close();
  }
  return killed;
}

/** The whole files of a job's run in a cache, and when they were written. */
function filesOf(cache: string, jobId: Hex): { name: string; at: number }[] {
  if (!existsSync(cache)) return [];
  const all = readdirSync(cache, { recursive: true, encoding: "utf8" });
  return all.flatMap((path) => {
    const isWhole = basename(dirname(path)) === jobId && extname(path) === "";
    const stat = isWhole ? statSync(join(cache, path), { throwIfNoEntry: false }) : undefined;
    return stat === undefined ? [] : [{ name: basename(path), at: stat.mtimeMs }];
  });
}
