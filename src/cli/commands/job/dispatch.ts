import { Command } from "commander";
import { formatEther } from "viem";
import { cutBatch, type Batch } from "../../../parties/dispatcher/batch.ts";
import { costsOf, type BatchCost } from "../../../parties/dispatcher/costs.ts";
import { dispatch } from "../../../parties/dispatcher/dispatcher.ts";
import { DispatchInputError } from "../../../parties/dispatcher/errors.ts";
import type { DispatchEvent } from "../../../parties/dispatcher/events.ts";
import { requireWritable, writeOutputs, type OutputFiles } from "../../../parties/dispatcher/gather.ts";
import { DispatchStore } from "../../../parties/dispatcher/store.ts";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { estimateFee } from "../../../parties/requester/estimateFee.ts";
import { checkJob, minWindow, usualClaimSeconds } from "../../../parties/requester/postJob.ts";
import { amountAboveZero, amountText, timeText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { outputFiles } from "../../decoded.ts";
import { InterruptedError, UsageError } from "../../errors.ts";
import { warnOfNobody } from "../../feeWarning.ts";
import { alwaysShow } from "../../words/helpGroups.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import type { Output } from "../../output.ts";
import { as, filePath, positive, seconds, share, text, webUrl, whole } from "../../parse.ts";
import { prepareBatch } from "../../prepareJob.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";
import { untilStopped } from "../../stop.ts";
import { table } from "../../../base/text.ts";
import { logOutage } from "../../waiting.ts";

const DAY_SECONDS = 86_400;

const settings = {
  ...accountSettings,
  partItems: required("n", "items of a part, each of which is a job", whole(1, MAX_ITEMS)),
  fee: required(
    "amount",
    "of a part, in whole units of the stake asset, or with a unit such as 50gwei",
    amountAboveZero,
  ),
  maxFee: optional<bigint>(
    "amount",
    "to which the fee of a part that nobody claims is raised, a quarter each time",
    amountAboveZero,
    "twice --fee",
  ),
  budget: required("amount", "for all fees together", amountAboveZero),
  state: required("file", "where it is kept what is done; the same command with the same file goes on", filePath),
  openJobs: defaulted("n", "jobs that are open at a time", whole(1, 10_000), 16),
  attempts: defaulted("n", "jobs of one part, at most", whole(1, 1_000), 5),
  check: defaulted("share", "of claims that are checked by executing here, drawn once a claim is there", share, 0.05),
  items: optional<number>("n", "items of a run", whole(1), "as many as files are given, or 1"),
  firstItem: defaulted("n", "what an input that is the index reads in the first item", whole(0, 2 ** 32 - 1), 0),
  window: optional<number>("seconds", "in which watchers may dispute", seconds(1), "the shortest allowed"),
  claimSeconds: optional<number>("seconds", "that a worker has to compute", seconds(1), "1800, and the program's work"),
  deadlineSeconds: defaulted("seconds", "from a post, by which a submission must be due", seconds(1), DAY_SECONDS),
  openSeconds: defaulted("seconds", "after which a job that nobody claims is posted again for more", seconds(1), 1_800),
  withheldSeconds: defaulted("seconds", "after which outputs that nobody serves are computed here", seconds(0), 600),
  answer: toggle("claims are the roots of the outputs alone; what leads to them is owed only in a dispute"),
  name: optional<string>("text", "sets batches of the same content apart", text),
  interval: defaulted("seconds", "between two looks at the chain", positive, 4),
};

type Options = ModelOptions & { input?: string[]; output?: string[]; from?: string[] };
type Values = ReturnType<typeof readSettings<typeof settings>>;

/** `refute job dispatch`: posts a batch in many jobs, and gathers the outputs in one file. */
export function dispatchCommand(output: Output): Command {
  const command = new Command("dispatch")
    .description("cut a large batch into jobs, follow them, and gather the outputs. Inputs and outputs are public")
    .argument("<model>", "ONNX file")
    .option(
      "--input <name=file>",
      "an input: a tensor as .npy, .pb or .json, or its bytes, little-endian; repeat for more; an input that each " +
        "item has of its own takes a file for each item, one that is carried a file for each part, or a folder of them",
      appendOption,
    )
    .option(
      "--output <name=file>",
      "NumPy file that an output of all items is written to; repeat for more",
      appendOption,
    )
    .option(
      "--from <url>",
      "the server of a worker that publishes its claims; repeat for more",
      (url: string, all: readonly string[] = []) => [...all, as(webUrl, "--from")(url)],
    )
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const batch = readBatch(path, options, values, output);
      const files = filesOf(batch, options);
      requireWritable(batch, files);
      const executors = new FastExecutors();
      try {
        const cost = await run(batch, options, values, files, executors, output);
        answer(output, batch, cost, files);
      } finally {
        await executors.close();
      }
    });
  return addExamples(
    alwaysShow(addSettings(seedOption(modelOptions(command)), settings), "run"),
    "job dispatch model.onnx --batch --input x=pictures/ --part-items 50 --fee 0.01 --budget 0.5 --state batch.db " +
      "--output y=y.npy --from http://worker.example:8080",
  );
}

function readBatch(path: string, options: Options, values: Values, output: Output): Batch {
  const { compiled, inputs, items } = prepareBatch(modelSpec(path, options), { ...options, ...values }, output, true);
  const { partItems, firstItem, name = "" } = values;
  return cutBatch({ program: knownProgram(compiled), inputs, items, partItems, firstItem, name });
}

/** @throws UsageError, DispatchInputError */
function filesOf({ description, program }: Batch, { output = [], from = [] }: Options): OutputFiles {
  const { outputs } = description;
  const names = outputs.map(({ name }) => name);
  const named = outputFiles(names, output);
  if (named.size === 0)
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
  batch: Batch,
  { from = [] }: Options,
  values: Values,
  files: OutputFiles,
  { execute }: FastExecutors,
  output: Output,
): Promise<BatchCost> {
  const session = await sessionFrom(values);
  const { description, parts } = batch;
  const { fee, answer, state, deadlineSeconds } = values;
  const { maxFee = 2n * fee } = values;
  if (maxFee < fee) throw new UsageError(`--max-fee ${amountText(maxFee)} is below --fee ${amountText(fee)}`);
  const largest = parts[0]!;
  const window = values.window ?? minWindow(session, description, largest.items);
  const claimSeconds = values.claimSeconds ?? usualClaimSeconds(session, description, largest.items);
  if (deadlineSeconds <= claimSeconds)
    throw new UsageError(`--deadline-seconds ${deadlineSeconds}: expected more than the ${claimSeconds} of a claim`);
  const terms = { ...values, maxFee, window, claimSeconds };
  const { timestamp } = await session.publicClient.getBlock();
  const job = { items: largest.items, fee, window, claimSeconds, answer };
  await checkJob(session, description, largest.inputs, { ...job, deadline: timestamp + BigInt(deadlineSeconds) });
  await warnOfLowFee(output, session, batch, values);
  await warnOfNobody(output, session, [description.programRoot]);
  const { chainId, market } = session.deployment;
  const store = await DispatchStore.open(state, {
    batch: batch.id,
    chainId,
    market,
    requester: session.sender.address,
  });
  try {
    const progress = output.progress("part");
    progress(store.done().length, parts.length);
    const onStop = (): void => output.note("stops; the jobs that are posted go on; once more to stop at once");
    await untilStopped(onStop, async (signal) => {
      const { openJobs, attempts: maxAttempts, check: checkShare, openSeconds, withheldSeconds, interval } = values;
      await dispatch({
        ...{ session, batch, store, execute, urls: from, terms, signal },
        ...{ openJobs, maxAttempts, checkShare, openSeconds, withheldSeconds, intervalMs: 1_000 * interval },
        onOutage: logOutage(output),
        onEvent: (event) => {
          if (event.kind === "done") progress(event.done, event.total);
          const line = lineOf(event);
          if (line !== undefined) output.note(line);
        },
      }).catch((cause: unknown) => {
        if (!signal.aborted) throw cause;
        throw new InterruptedError(
          `stopped with ${store.done().length} of ${parts.length} parts done; the same command goes on`,
          { cause },
        );
      });
    });
    writeOutputs(batch, store, files);
    return costsOf(batch, store);
  } finally {
    store.close();
  }
}

/** Returns the line for an event; undefined for usual events. */
function lineOf(event: DispatchEvent): string | undefined {
  switch (event.kind) {
    case "cancelled":
      return `part ${event.part}: nobody claimed it; it is posted again for more`;
    case "expired":
      return `part ${event.part}: its worker was late, or nobody came in time`;
    case "refuted":
      return `part ${event.part}: the claim of ${event.worker} was refuted; another worker may take it`;
    case "checked":
      return event.isRight
        ? `part ${event.part}: the claim of ${event.worker} was checked, and is right`
        : `part ${event.part}: the claim ${event.claim} of ${event.worker} is WRONG; its window ends at ` +
            timeText(event.windowEnd);
    case "undisputed":
      return `part ${event.part}: claim ${event.claim} cannot be disputed from this account now: ${event.why}`;
    case "disputeLeft":
      return `claim ${event.claim} is under dispute: run the same command again soon, or the bond is lost`;
    case "undelivered":
      return (
        `part ${event.part}: ${event.worker} has not delivered on chain, and is not paid before it does; ` +
        `refute job reclaim ${event.job} brings the fee back from a week after the claim became final on`
      );
    case "withheld":
      return `part ${event.part}: nobody serves the outputs of ${event.worker}'s claim; they are computed here`;
    default:
      return undefined;
  }
}

/** Workers gladly take a fee above the gas cost times this factor. */
const GAS_TIMES = 10n;

async function warnOfLowFee(
  output: Output,
  session: Awaited<ReturnType<typeof sessionFrom>>,
  { description, parts }: Batch,
  { fee, answer }: Values,
): Promise<void> {
  const { fee: min, gas, gasPrice } = await estimateFee(session, description, { items: parts[0]!.items, answer });
  const good = GAS_TIMES * BigInt(gas.total) * gasPrice;
  if (fee < min)
    output.warn(
      `--fee ${amountText(fee)} is below ${amountText(min)} of the stake asset, what a worker needs now: ` +
        "nobody may take a part",
    );
  else if (fee < good)
    output.warn(
      `a part's gas costs its worker ${amountText(BigInt(gas.total) * gasPrice)} ether, and --fee is ` +
        `${amountText(fee)}: larger parts spend less of it on gas`,
    );
}

function answer(output: Output, { id, items }: Batch, cost: BatchCost, files: OutputFiles): void {
  const { parts, fee, gas, gasCost, checks } = cost;
  const rows = parts.map((part) => [
    `${part.first} to ${part.first + part.items - 1}`,
    part.worker ?? "",
    String(part.attempts),
    amountText(part.fee),
    String(part.gas),
    part.source ?? "",
  ]);
  const checked = checks.right + checks.wrong;
  output.answer({ batch: id, items, files: [...files.values()], ...cost }, [
    ...table([["items", "worker", "jobs", "fee", "gas", "bytes from"], ...rows]),
    `${items} items in ${parts.length} parts: fees ${amountText(fee)} of the stake asset, gas ${gas} ` +
      `(${formatEther(gasCost)} of the native token); ${checked} claims checked here, ${checks.wrong} wrong`,
    `written to ${[...files.values()].join(", ")}`,
  ]);
}
