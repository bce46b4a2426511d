/**
 * A worker that lies, as a process of its own: one element of a step is another number in all that it computes. Takes a
 * {@link LiarSettings} as JSON in the environment variable LIAR; ends when it is killed.
 */
import { readFileSync } from "node:fs";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { compile } from "../../src/compiler/compile.ts";
import { openSession } from "../../src/market/session.ts";
import { readModel } from "../../src/onnx/readModel.ts";
import { knownProgram } from "../../src/player/execution.ts";
import { ProgramLibrary } from "../../src/player/programLibrary.ts";
import { runWorker } from "../../src/worker/worker.ts";
import { quiet, reference } from "../players/players.ts";

/** What a liar needs to know. */
export type LiarSettings = {
  url: string;
  chainId: number;
  market: Address;
  key: Hex;
  /** An ONNX file. */
  model: string;
  lie: { step: number; element: number };
  maxOpenClaims: number;
};

const { url, chainId, market, key, model, lie, maxOpenClaims } = JSON.parse(process.env.LIAR!) as LiarSettings;
const session = await openSession({
  endpoint: { rpcUrls: [url] },
  chainId,
  market,
  account: privateKeyToAccount(key),
});
await runWorker({
  session,
  programs: ProgramLibrary.of([knownProgram(compile(readModel(readFileSync(model)), { shapes: {} }))]),
  execute: reference(lie),
  policy: { minFee: 1n, marginSeconds: 10, maxOpenClaims },
  selfAuditSamples: 0,
  signal: new AbortController().signal,
  intervalMs: 300,
  log: quiet,
});
