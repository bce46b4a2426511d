/**
 * A lying worker in a separate process: the liar changes an element of a step in every execution. Takes {@link
 * LiarSettings} as JSON in the environment variable LIAR; ends when killed.
 */
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { SILENT } from "../../base/log.ts";
import { compile } from "../../compiler/compile.ts";
import { openSession } from "../../chain/market/session.ts";
import { dtypeBytes } from "../../numerics/dtype.ts";
import { knownProgram } from "../../dispute/run/execution.ts";
import { FastExecutors } from "../../runs/fastExecutors.ts";
import { ProgramLibrary } from "../../runs/programLibrary.ts";
import { loadModel, type ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { runWorker } from "../../parties/worker/worker.ts";
import type { Execute } from "../../runs/execute.ts";

/** The settings of a liar. */
export type LiarSettings = {
  url: string;
  chainId: number;
  market: Address;
  key: Hex;
  models: readonly (Omit<ModelSpec, "seed"> & { seed?: string | undefined })[];
  /** Where it lies; in the first element of the last step if left out. */
  lie?: { step: number; element: number };
  maxOpenClaims: number;
};

const { url, chainId, market, key, models, lie, maxOpenClaims } = JSON.parse(process.env.LIAR!) as LiarSettings;
const executors = new FastExecutors();

/** Executes with one element changed: the element's highest byte, or a one-byte element's lowest bit. */
const execute: Execute = (model, inputs) => {
  const { step, element } = lie ?? { step: model.program.steps.length - 1, element: 0 };
  return executors.run(model, inputs, {
    onStep: (number, tensor) => {
      if (number !== step) return;
      const bytes = dtypeBytes(model.program.steps[step]!.dtype);
      tensor[element * bytes + bytes - 1]! ^= bytes === 1 ? 1 : 0x3f;
    },
  });
};

const session = await openSession({
  endpoint: { rpcUrls: [url] },
  chainId,
  market,
  account: privateKeyToAccount(key),
});
const programs = models.map(({ seed, ...spec }) => {
  const { model, run } = loadModel(spec);
  return knownProgram(compile(model, { ...spec, run, ...(seed === undefined ? {} : { seed: BigInt(seed) }) }));
});
await runWorker({
  session,
  programs: ProgramLibrary.of(programs),
  execute,
  policy: { minFee: 1n, marginSeconds: 10, maxOpenClaims },
  selfAuditSamples: 0,
  signal: new AbortController().signal,
  intervalMs: 300,
  log: SILENT,
});
