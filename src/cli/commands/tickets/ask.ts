import { randomInt } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import type { Address } from "viem";
import { NOISE } from "../../../compiler/wraps/withNoise.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { answerGuess, withGuess } from "../../../runs/blocks.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { knownProgram, type KnownProgram } from "../../../dispute/run/execution.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { judgeAnswer, judgeRest } from "../../../parties/tickets/judgeAnswer.ts";
import { Payer, type Answered } from "../../../parties/tickets/payer.ts";
import { PayerLedger } from "../../../parties/tickets/payerLedger.ts";
import { heldSeconds, ticketSession } from "../../../parties/tickets/ticketSession.ts";
import { unchainedRun, type UnchainedItem } from "../../../parties/tickets/unchainedRun.ts";
import { isOfEachItem } from "../../../program/trace/answer.ts";
import { RunInputs } from "../../../program/trace/runInputs.ts";
import { amountAboveZero } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { outputsJson } from "../../decoded.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import { appendOption, modelOptions, modelSpec, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { address, filePath, text, whole } from "../../parse.ts";
import { prepareJob } from "../../prepareJob.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";
import { writeWholeSync } from "../../../base/writeWhole.ts";
import { writeProblem } from "../../../base/writable.ts";
import { requireFolder } from "../../folders.ts";

const settings = {
  ...accountSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
  url: required<string>("url", "the worker's endpoint", text),
  ledger: required<string>("file", "what was promised and what this account signed: keep it", filePath),
  face: required<bigint>("amount", "most face of a ticket, in whole units of the stake asset", amountAboveZero),
  oneIn: defaulted("n", "a ticket may win once in so many times, and not more often", whole(1), 100),
  items: optional<number>("n", "items of a run", whole(1, MAX_ITEMS), "as many as files are given, or 1"),
  firstItem: defaulted("n", "what an input that is the index reads in the first item", whole(0, 2 ** 32 - 1), 0),
  unchained: toggle("ask for each item of the run alone, with a claim and a ticket of its own"),
  check: toggle("execute the model here too: a wrong answer is put on chain to be refuted, and not paid"),
  checkOneIn: optional<number>("n", "the same of one in so many answers, drawn by chance", whole(1), "none"),
  out: optional<string>(
    "folder",
    "outputs of each item of an unchained run, written before it is paid: OUTPUT-ITEM.bin",
    filePath,
    "none",
  ),
};

type Options = ModelOptions & { input?: string[] };

/** `refute tickets ask`: ask a worker's endpoint, and pay with lottery tickets. */
export function askCommand(output: Output): Command {
  const command = new Command("ask")
    .description("ask a worker's endpoint to run this model, and pay with a lottery ticket")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input, as refute submit takes it; repeat for more", appendOption)
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const { firstItem, unchained, out } = values;
      if (out !== undefined) requireFolder("--out", out);
      // In an unchained run the payer draws the seed for each item's noise, unless the payer gives one seed for all.
      const drawnInputs: readonly string[] = unchained && !isGiven(options, NOISE.seed) ? [NOISE.seed] : [];
      const prepared = await prepareJob(
        modelSpec(path, options),
        { ...options, items: values.items, firstItem, drawnInputs },
        output,
      );
      const { compiled, items } = prepared;
      const program = knownProgram(compiled);
      const inputs = new RunInputs(compiled.program.inputs, { items, firstItem }, prepared.inputs);
      const account = await loadAccount(values);
      const at = await ticketSession(await sessionFrom(values), values.tickets, account);
      const ledger = await PayerLedger.open(values.ledger);
      const oneIn = values.check ? 1 : values.checkOneIn;
      const draw = (): boolean => oneIn !== undefined && randomInt(oneIn) === 0;
      const executors = new FastExecutors();
      const { execute } = executors;
      const judging = { at, ledger, program, execute };
      try {
        const { timestamp } = await at.session.publicClient.getBlock();
        ledger.forget(timestamp - BigInt(heldSeconds(at)));
        const payer = await Payer.open({ at, ledger, url: values.url, limits: values });
        await judgeRest(judging, payer.worker);
        await payer.payRest();
        if (!unchained) {
          const isDrawn = draw();
          const answered = await payer.ask(program, inputs, isDrawn);
          const told = withGuess(execute, answerGuess(compiled, inputs, answered.outputs));
          if (isDrawn) await judgeAnswer({ ...judging, execute: told }, answered.digest, inputs);
          await payer.pay(answered.digest);
          return answerOne(output, program, answered);
        }
        const seeds = compiled.inputs.flatMap(({ name }, k) => (drawnInputs.includes(name) ? [k] : []));
        const answers: UnchainedItem[] = [];
        const progress = output.progress("item");
        const look = async (item: UnchainedItem, isDrawn: boolean): Promise<void> => {
          if (out !== undefined) writeItem(out, program, item);
          if (isDrawn) await judgeAnswer(judging, item.answered.digest, item.inputs);
        };
        for await (const item of unchainedRun({ payer, program, inputs, seeds, draw, look })) {
          answers.push(item);
          progress(answers.length, items);
        }
        answerUnchained(output, program, answers);
      } finally {
        ledger.end();
        await executors.close();
      }
    });
  return addExamples(
    addSettings(modelOptions(command), settings),
    "tickets ask model.onnx --input x=x.npy --url http://worker.example:8700 --tickets 0x... --ledger ask.db " +
      "--face 0.01",
    "tickets ask model.onnx --carry x=y --last-output y --noise x=0.01 --items 50 --unchained --input x=x.npy " +
      "--url URL ...",
  );
}

/** Keeps an item's outputs: after a kill, the next item can begin there. */
function writeItem(folder: string, { model }: KnownProgram, { item, answered }: UnchainedItem): void {
  try {
    mkdirSync(folder, { recursive: true });
    for (const [k, bytes] of answered.outputs.entries())
      writeWholeSync(join(folder, `${encodeURIComponent(model.outputs[k]!.name)}-${item}.bin`), bytes);
  } catch (cause) {
    throw new UsageError(
      `--out ${folder}: cannot be written: ${writeProblem(join(folder, "0"), cause)}: name another folder`,
      { cause },
    );
  }
}

const isGiven = ({ input = [] }: Options, name: string): boolean => input.some((text) => text.startsWith(`${name}=`));

function answerOne(output: Output, program: KnownProgram, { digest, claim, outputs }: Answered): void {
  const all = itemsOf(program, claim.items, outputs);
  const last = all.at(-1);
  output.answer(
    { claim: digest, worker: claim.worker, root: claim.root, outputs: last, ...(all.length > 1 && { items: all }) },
    [`claim ${digest} of worker ${claim.worker}, paid with a ticket`, JSON.stringify(last)],
  );
}

function answerUnchained(output: Output, program: KnownProgram, answers: readonly UnchainedItem[]): void {
  const items = answers.map(({ item, answered: { digest, claim, outputs } }) => ({
    ...{ item, claim: digest, root: claim.root },
    outputs: itemsOf(program, 1, outputs)[0],
  }));
  const { worker } = answers.at(-1)!.answered.claim;
  const { outputs } = items.at(-1)!;
  output.answer({ worker, outputs, items }, [
    `${items.length} items by worker ${worker}, each with a claim of its own, paid with a ticket`,
    JSON.stringify(outputs),
  ]);
}

/** Returns each item's outputs; the last item also has the outputs that only the last item has. */
function itemsOf(known: KnownProgram, items: number, outputs: readonly Uint8Array[]): unknown[][] {
  const program = describeProgram(known);
  return Array.from({ length: items }, (_, item) => {
    const own = outputs.flatMap((bytes, k): [number, Uint8Array][] => {
      const isEach = isOfEachItem(known.model.program, k);
      if (!isEach) return item === items - 1 ? [[k, bytes]] : [];
      const size = bytes.length / items;
      return [[k, bytes.subarray(item * size, (item + 1) * size)]];
    });
    return outputsJson(new Map(own), { program });
  });
}
