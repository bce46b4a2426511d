/**
 * A worker in a separate process, honest except in a single step. Takes {@link CrookSettings} as JSON in the
 * environment variable CROOK, sends a message once claims are served, and ends when killed.
 */
import { readFileSync } from "node:fs";
import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { openSession } from "../../src/chain/market/session.ts";
import { compile } from "../../src/compiler/compile.ts";
import { loadModel } from "../../src/compiler/wraps/modelSpec.ts";
import type { TrainSpec } from "../../src/compiler/wraps/trainSpec.ts";
import { TRAINING } from "../../src/compiler/wraps/wrapTraining.ts";
import { knownProgram } from "../../src/dispute/run/execution.ts";
import { TracePublisher } from "../../src/parties/worker/publisher.ts";
import { runWorker } from "../../src/parties/worker/worker.ts";
import type { Execute } from "../../src/runs/execute.ts";
import { FastExecutors } from "../../src/runs/fastExecutors.ts";
import { ProgramLibrary } from "../../src/runs/programLibrary.ts";
import { quiet } from "../players/players.ts";

/** A crook's deed: a wrong element in the first tensor, or the next share's gradient. */
export type CrookKind = "lying" | "copying";

export type CrookSettings = {
  url: string;
  chainId: number;
  market: Address;
  key: Hex;
  kind: CrookKind;
  model: string;
  trains: readonly TrainSpec[];
  /** Files with the dishonest step's whole batch, by input. */
  batch: Readonly<Record<"x" | "labels", string>>;
  /** The jobs' inputs' host. */
  host: string;
  /** Where it serves its claims. */
  port: number;
};

const {
  url,
  chainId,
  market,
  key,
  kind,
  model: path,
  trains,
  batch,
  host,
  port,
} = JSON.parse(process.env.CROOK!) as CrookSettings;
const executors = new FastExecutors({ threads: 1 });
const whole = { x: readFileSync(batch.x), [TRAINING.labels]: readFileSync(batch.labels) };

const execute: Execute = (model, inputs) => {
  const own = inputs[model.inputs.findIndex(({ name }) => name === "x")];
  const place = own === undefined ? -1 : whole.x.indexOf(own);
  if (own === undefined || place < 0) return executors.run(model, inputs);
  if (kind === "lying")
    return executors.run(model, inputs, { onStep: (step, tensor) => void (step === 0 && (tensor[3]! ^= 1)) });
  const share = (place / own.length + 1) % (whole.x.length / own.length);
  const copied = model.inputs.map(({ name }, k) => {
    const { length } = inputs[k]!;
    const all = name === "x" || name === TRAINING.labels ? whole[name] : undefined;
    return all?.subarray(share * length, (share + 1) * length) ?? inputs[k]!;
  });
  return executors.run(model, copied);
};

const session = await openSession({
  ...{ endpoint: { rpcUrls: [url] }, chainId, market, account: privateKeyToAccount(key) },
});
const programs = trains.map((train) => {
  const { model, run } = loadModel({ path, bind: {}, uint8: [], train });
  return knownProgram(compile(model, { shapes: {}, run }));
});
const publisher = new TracePublisher();
await publisher.listen(port);
process.send!("serves");
await runWorker({
  ...{ session, programs: ProgramLibrary.of(programs), execute, publisher },
  policy: { minFee: 1n, marginSeconds: 10 },
  selfAuditSamples: 0,
  references: { sources: { hosts: [host] } },
  ...{ signal: new AbortController().signal, intervalMs: 200, log: quiet },
});
