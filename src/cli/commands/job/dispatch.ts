import { Command } from "commander";
import { formatEther } from "viem";
import { cutBatch, type Batch } from "../../../parties/dispatcher/batch.ts";
import { costsOf, type BatchCost } from "../../../parties/dispatcher/costs.ts";
import { dispatch } from "../../../parties/dispatcher/dispatcher.ts";
import { DispatchInputError } from "../../../parties/dispatcher/errors.ts";
import { lastOutputs, requireWritable, writeOutputs, type OutputFiles } from "../../../parties/dispatcher/gather.ts";
import type { DispatchOptions } from "../../../parties/dispatcher/options.ts";
import { DispatchStore } from "../../../parties/dispatcher/store.ts";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { checkJob } from "../../../parties/requester/postJob.ts";
import { amountText } from "../../amount.ts";
import { sessionFrom } from "../../chainSettings.ts";
import { outputFiles } from "../../decoded.ts";
import { deviceSettings, openDevice } from "../../deviceSettings.ts";
import {
  addServers,
  dispatchSettings,
  dispatchTerms,
  placing,
  untilDispatched,
  warnOfLowFee,
} from "../../dispatching.ts";
import { UsageError } from "../../errors.ts";
import { warnOfNobody } from "../../feeWarning.ts";
import { textLines, textOf, type TextOf } from "../../generatedText.ts";
import { generationOptions, type GenerationOptions } from "../../generationOptions.ts";
import { alwaysShow } from "../../words/helpGroups.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { text, whole } from "../../parse.ts";
import { prepareBatch, prepareJob } from "../../prepareJob.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";
import { table } from "../../../base/text.ts";

const settings = {
  partItems: required("n", "items of a part, each of which is a job", whole(1, MAX_ITEMS)),
  ...dispatchSettings,
  ...deviceSettings,
  openJobs: defaulted("n", "jobs that are open at a time", whole(1, 10_000), 16),
  items: optional<number>("n", "items of a run", whole(1), "as many as files are given, or 1"),
  firstItem: defaulted("n", "what an input that is the index reads in the first item", whole(0, 2 ** 32 - 1), 0),
  answer: toggle("claims are the roots of the outputs alone; what leads to them is owed only in a dispute"),
  name: optional<string>("text", "sets batches of the same content apart", text),
};

type Options = ModelOptions & GenerationOptions & { input?: string[]; output?: string[]; from?: string[] };
/** A batch, and for a decoder the reader of the text. */
type Prepared = { batch: Batch; textOf: TextOf | undefined };
type Values = ReturnType<typeof readSettings<typeof settings>>;

/** `refute job dispatch`: posts a batch in many jobs, and gathers the outputs in one file. */
export function dispatchCommand(output: Output): Command {
  const command = new Command("dispatch")
    .description("cut a large batch into jobs, follow them, and gather the outputs. Inputs and outputs are public")
    .argument("<model>", "ONNX file")
    .option(
      "--input <name=file>",
      "an input: a tensor as .npy, .pb or .json, or its bytes, little-endian; repeat for more; an input that each " +
        "item has of its own takes a file for each item, one that is carried a file for the first part or for each " +
        "part, or a folder of them",
      appendOption,
    )
    .option(
      "--output <name=file>",
      "NumPy file that an output of all items is written to; repeat for more",
      appendOption,
    )
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const place = placing(values, output);
      const prepared = await readBatch(path, options, values, output);
      const { batch } = prepared;
      const files = filesOf(batch, options);
      requireWritable(batch, files);
      const executors = new FastExecutors();
      try {
        const { cost, text } = await run(prepared, options, values, files, { place, executors }, output);
        answer(output, batch, cost, files, text);
      } finally {
        await executors.close();
      }
    });
  return addExamples(
    alwaysShow(addSettings(addServers(generationOptions(seedOption(modelOptions(command)))), settings), "run"),
    "job dispatch model.onnx --batch --input x=pictures/ --part-items 50 --fee 0.01 --budget 0.5 --state batch.db " +
      "--output y=y.npy --from http://worker.example:8080",
  );
}

/** @throws UsageError, DispatchInputError, and as compiling and reading do */
async function readBatch(path: string, options: Options, values: Values, output: Output): Promise<Prepared> {
  const spec = modelSpec(path, options);
  if (spec.decoder !== undefined && spec.decoder.chain !== true)
    throw new UsageError("--decoder: a text is cut into parts if its caches are outputs too: give --chain");
  const given = { ...options, ...values };
  const prepared = spec.decoder === undefined ? prepareBatch(spec, given, output, true) : undefined;
  const { compiled, inputs, items, tokenizer } = prepared ?? (await prepareJob(spec, given, output));
  const { partItems, firstItem, name = "" } = values;
  const batch = cutBatch({ program: knownProgram(compiled), inputs, items, partItems, firstItem, name });
  return { batch, textOf: tokenizer && textOf(tokenizer, batch.description) };
}

/** @throws UsageError, DispatchInputError */
function filesOf({ description, program }: Batch, { output = [], from = [], tokenizer }: Options): OutputFiles {
  const { outputs } = description;
  const names = outputs.map(({ name }) => name);
  const named = outputFiles(names, output);
  if (named.size === 0 && tokenizer === undefined)
    throw new UsageError(`--output is missing: give --output NAME=FILE.npy, of ${names.join(", ")}`);
  const { each = [] } = program.model.program;
  if (each.length > 0 && from.length === 0)
    throw new DispatchInputError(
      `output "${outputs[each[0]!]!.name}" is each item's own, and those are not on the chain: give --from URL, ` +
        "the server of each worker that may serve the batch",
    );
  return new Map([...named].map(([name, file]) => [outputs.findIndex((one) => one.name === name), file]));
}

async function run(
  { batch, textOf }: Prepared,
  { from = [] }: Options,
  values: Values,
  files: OutputFiles,
  own: { place: DispatchOptions["place"]; executors: FastExecutors },
  output: Output,
): Promise<{ cost: BatchCost; text: string | undefined }> {
  const session = await sessionFrom(values);
  const { description, parts } = batch;
  const { answer, state } = values;
  const largest = parts[0]!;
  const terms = { ...dispatchTerms(session, description, largest.items, values), answer };
  const { timestamp } = await session.publicClient.getBlock();
  const deadline = timestamp + BigInt(terms.deadlineSeconds);
  await checkJob(session, description, largest.inputs, { ...terms, items: largest.items, deadline });
  await warnOfLowFee(output, session, description, largest.items, terms);
  await warnOfNobody(output, session, [description.programRoot]);
  const { chainId, market } = session.deployment;
  const store = await DispatchStore.open(state, {
    batch: batch.id,
    chainId,
    market,
    requester: session.sender.address,
  });
  let device: Awaited<ReturnType<typeof openDevice>> | undefined;
  try {
    device = await openDevice(values, own.executors.execute, {
      onCpu: (reason) => output.warn(reason),
      onDevice: () => undefined,
      onTested: () => undefined,
      onGpuSeconds: (seconds) => store.usedGpu(seconds),
      onStop: ({ message }) => output.warn(`the CPU computes: ${message}`),
      onRefusal: (_, reason) => output.warn(`the CPU computes: ${reason}`),
    });
    const { execute } = device;
    const progress = output.progress("part");
    progress(store.done().length, parts.length);
    const soFar = (): string => `${store.done().length} of ${parts.length} parts`;
    await untilDispatched(output, values, soFar, (options) =>
      dispatch({
        ...{ ...options, session, batch, store, execute, urls: from, terms, openJobs: values.openJobs },
        ...(own.place !== undefined && { place: own.place }),
        onEvent: (event) => {
          if (event.kind === "done") progress(event.done, event.total);
          options.onEvent?.(event);
        },
      }),
    );
    writeOutputs(batch, store, files);
    const text = textOf?.({ items: batch.items, inputs: largest.inputs, outputs: lastOutputs(batch, store) });
    return { cost: costsOf(batch, store), text };
  } finally {
    await device?.close();
    store.close();
  }
}

function answer(
  output: Output,
  { id, items }: Batch,
  cost: BatchCost,
  files: OutputFiles,
  text: string | undefined,
): void {
  const { parts, fee, gas, gasCost, checks, gpuSeconds } = cost;
  const rows = parts.map((part) => [
    `${part.first} to ${part.first + part.items - 1}`,
    part.worker ?? "",
    String(part.attempts),
    amountText(part.fee),
    String(part.gas),
    part.source ?? "",
  ]);
  const checked = checks.right + checks.wrong;
  output.answer({ batch: id, items, files: [...files.values()], ...cost, ...(text !== undefined && { text }) }, [
    ...table([["items", "worker", "jobs", "fee", "gas", "bytes from"], ...rows]),
    `${items} items in ${parts.length} parts: fees ${amountText(fee)} of the stake asset, gas ${gas} ` +
      `(${formatEther(gasCost)} of the native token); ${checked} claims checked here, ${checks.wrong} wrong` +
      (gpuSeconds > 0 ? `; ${gpuSeconds.toFixed(1)} s of this machine's GPU` : ""),
    ...(files.size === 0 ? [] : [`written to ${[...files.values()].join(", ")}`]),
    ...textLines(text),
  ]);
}
