import { Command } from "commander";
import type { Address } from "viem";
import { createExecutor } from "../../executor/createExecutor.ts";
import { MAX_ITEMS } from "../../program/run.ts";
import { knownProgram } from "../../player/execution.ts";
import { describeProgram } from "../../sdk/describeProgram.ts";
import { answerRun } from "../../tickets/answerRun.ts";
import { WrongAnswerError } from "../../tickets/errors.ts";
import { Payer } from "../../tickets/payer.ts";
import { PayerLedger } from "../../tickets/payerLedger.ts";
import { putOnChain } from "../../tickets/refute.ts";
import { ticketSession, type TicketSession } from "../../tickets/ticketSession.ts";
import { RunInputs } from "../../trace/runInputs.ts";
import { amountAboveZero } from "../amount.ts";
import { accountSettings, sessionFrom } from "../chainSettings.ts";
import { outputsJson } from "../decoded.ts";
import { addExamples } from "../globalOptions.ts";
import { loadAccount } from "../keys.ts";
import { appendOption, modelOptions, modelSpec, type ModelOptions } from "../modelOptions.ts";
import type { Output } from "../output.ts";
import { address, text, whole } from "../parse.ts";
import { prepareJob } from "../prepareJob.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../settings.ts";

const settings = {
  ...accountSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
  url: required<string>("url", "the worker's endpoint", text),
  ledger: required<string>("file", "what was promised and what this account signed: keep it", text),
  face: required<bigint>("amount", "most face of a ticket, in whole units of the stake asset", amountAboveZero),
  oneIn: defaulted("n", "a ticket may win once in so many times, and not more often", whole(1), 100),
  items: optional<number>("n", "items of a run", whole(1, MAX_ITEMS), "as many as files are given, or 1"),
  check: toggle("execute the model here too: a wrong answer is put on chain to be refuted, and not paid"),
};

type Options = ModelOptions & { input?: string[] };

/** `refute ask`: ask a worker's endpoint, and pay with a lottery ticket. */
export function askCommand(output: Output): Command {
  const command = new Command("ask")
    .description("ask a worker's endpoint to run this model, and pay with a lottery ticket")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input, as refute submit takes it; repeat for more", appendOption)
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const {
        compiled,
        inputs: bytes,
        items,
      } = await prepareJob(modelSpec(path, options), { ...options, items: values.items }, output);
      const program = knownProgram(compiled);
      const inputs = new RunInputs(compiled.program.inputs, { items, firstItem: 0 }, bytes);
      const account = await loadAccount(values);
      const at = await ticketSession(await sessionFrom(values), values.tickets, account);
      const ledger = await PayerLedger.open(values.ledger);
      try {
        const payer = await Payer.open({ at, ledger, url: values.url, limits: values });
        await payer.payRest();
        const { digest, claim, outputs } = await payer.ask(program, inputs);
        if (values.check) await check(at, ledger, digest, program, inputs);
        await payer.pay(digest);
        const described = describeProgram(program);
        const all = outputsJson(new Map(outputs.map((one, k) => [k, one])), { program: described });
        output.answer({ claim: digest, worker: claim.worker, root: claim.root, outputs: all }, [
          `claim ${digest} of worker ${claim.worker}, paid with a ticket`,
          JSON.stringify(all),
        ]);
      } finally {
        ledger.end();
      }
    });
  return addExamples(
    addSettings(modelOptions(command), settings),
    "ask model.onnx --input x=x.npy --url http://worker.example:8700 --tickets 0x... --ledger ask.db --face 0.01",
  );
}

/** @throws WrongAnswerError once the claim is on chain */
async function check(
  at: TicketSession,
  ledger: PayerLedger,
  digest: `0x${string}`,
  program: ReturnType<typeof knownProgram>,
  inputs: RunInputs,
): Promise<void> {
  const executor = await createExecutor(program.model);
  try {
    const execute = async (_: unknown, all: readonly Uint8Array[]) => (await executor.run([...all])).tensors;
    const { root } = await answerRun(program, inputs, execute);
    const held = ledger.find(digest)!;
    if (root === held.claim.root) return;
    await putOnChain(at, held, program);
    throw new WrongAnswerError(
      `the worker's answer is wrong: its root is ${held.claim.root}, exact execution gives ${root}. It is not paid, ` +
        "and its claim is on chain now: a watcher of these claims refutes it (refute watcher --market)",
    );
  } finally {
    await executor.close();
  }
}
