import { Command } from "commander";
import type { Share } from "../../../compiler/passes/shares/cutBatch.ts";
import { FORM_NAMES, parseForm, type SumForm } from "../../../compiler/passes/shares/sumSteps.ts";
import { TRAINING, weightsByName } from "../../../compiler/wraps/wrapTraining.ts";
import type { KnownProgram } from "../../../dispute/run/execution.ts";
import { feedbacks, shareTraining, trainShares, type ShareTraining } from "../../../parties/dispatcher/trainShares.ts";
import { TrainingStore, type TrainedStep } from "../../../parties/dispatcher/trainingStore.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { FastExecutors } from "../../../runs/fastExecutors.ts";
import { table } from "../../../base/text.ts";
import { amountText } from "../../amount.ts";
import { sessionFrom } from "../../chainSettings.ts";
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
import { requirePlace } from "../../folders.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import { loadProgram } from "../../models.ts";
import type { Output } from "../../output.ts";
import { filePath, unfit, whole, type Parse } from "../../parse.ts";
import { prepareBatch } from "../../prepareJob.ts";
import { addSettings, defaulted, optional, readSettings, required } from "../../settings.ts";
import { alwaysShow } from "../../words/helpGroups.ts";
import { writeModel } from "../model/train.ts";

const sumForm: Parse<SumForm> = (text, name) => {
  const form = parseForm(text);
  if (form !== undefined) return form;
  throw unfit(text, name, FORM_NAMES.join(", "));
};

const settings = {
  shares: required("n", "of each batch, each of which is a job; one more job joins them", whole(1, 1_000)),
  sums: defaulted<SumForm>(
    "form",
    "of the shares: exact; fixed (less to send, the same result for any --shares); rounded or bytes (less still); " +
      "signs or top=K (least, and each share keeps a feedback)",
    sumForm,
    "exact",
  ),
  ...dispatchSettings,
  steps: optional<number>("n", "updates of the weights", whole(1), "as many as there are batches"),
  out: optional<string>("file", "where the trained model is written", filePath, "none"),
};

type Options = ModelOptions & { input?: string[]; labels?: string[]; from?: string[] };
type Values = ReturnType<typeof readSettings<typeof settings>>;
type Prepared = { training: ShareTraining; parts: Parameters<typeof weightsByName>[1] };

/** `refute job train`: trains a model over many workers, each of which takes a share of a batch. */
export function trainCommand(output: Output): Command {
  const command = new Command("train")
    .description("train a model over many workers: a job for each share of a batch, and a job that joins the shares")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input, as for model train: a file or a folder of batches; repeat", appendOption)
    .option("--labels <file>", "labels of a batch: a file for each item, or a folder of them; repeat", appendOption)
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const { out } = values;
      const place = placing(values, output);
      if (out !== undefined) requirePlace("--out", out);
      const prepared = prepare(path, options, values, output);
      const executors = new FastExecutors();
      try {
        const { steps, state } = await run(prepared, options, values, place, executors, output);
        if (out !== undefined) writeModel(out, path, weightsByName(state.get(TRAINING.weights)!, prepared.parts));
        answer(output, prepared, steps, out);
      } finally {
        await executors.close();
      }
    });
  return addExamples(
    alwaysShow(addSettings(addServers(seedOption(modelOptions(command))), settings), "training"),
    "job train model.onnx --loss crossEntropy --optimiser adam --input x=batches/ --labels labels/ " +
      "--input rates=r.json --shares 4 --fee 0.01 --budget 1 --state training.db --out trained.onnx " +
      "--from http://worker.example:8080",
  );
}

/** Compiles the programs for shares and joins, and reads the inputs. @throws UsageError, TrainingError */
function prepare(path: string, options: Options, values: Values, output: Output): Prepared {
  const spec = modelSpec(path, options);
  const { train } = spec;
  if (train === undefined) throw new UsageError("training makes a loss small: give --loss crossEntropy");
  if (train.share !== undefined) throw new UsageError("--share: --shares says how many there are");
  const labels = (options.labels ?? []).map((file) => `${TRAINING.labels}=${file}`);
  const input = [...(options.input ?? []), ...labels];
  const whole = prepareBatch(spec, { input, items: values.steps }, output);
  const { compiled, items: steps } = whole;
  const isOwn = (k: number): boolean => compiled.program.inputs[k]!.source?.kind === "each";
  const own = compiled.inputs.filter(({ name }, k) => isOwn(k) && name !== TRAINING.labels);
  const batch = own[0]?.shape[0] ?? 0;
  const { shares, sums } = values;
  if (batch % shares !== 0)
    throw new UsageError(`--shares ${shares}: the ${batch} examples of a batch cannot be cut into shares of one size`);
  const shapes = { ...spec.shapes, ...Object.fromEntries(own.map(({ name, shape }) => [name, shape])) };
  const form = sums === "exact" ? {} : { sums };
  const programOf = (share: Share): KnownProgram =>
    loadProgram({ ...spec, shapes, train: { ...train, share } }, output);
  const training = shareTraining({
    ...{ part: programOf({ part: batch / shares, ...form }), join: programOf({ join: shares, ...form }) },
    ...{ shares, steps, inputs: new Map(compiled.inputs.map(({ name }, k) => [name, whole.inputs[k]!])) },
  });
  return { training, parts: whole.training!.parts };
}

async function run(
  { training }: Prepared,
  { from = [] }: Options,
  values: Values,
  place: ReturnType<typeof placing>,
  { execute }: FastExecutors,
  output: Output,
): Promise<{ steps: readonly TrainedStep[]; state: ReadonlyMap<string, Uint8Array> }> {
  const session = await sessionFrom(values);
  const programs = [training.part, training.join];
  for (const program of programs) {
    const description = describeProgram(program);
    await warnOfLowFee(output, session, description, 1, dispatchTerms(session, description, 1, values));
  }
  const roots = programs.map(({ model }) => model.programRoot);
  await warnOfNobody(output, session, roots);
  const { chainId, market } = session.deployment;
  const owner = { run: training.id, chainId, market, requester: session.sender.address };
  const store = await TrainingStore.open(values.state, owner);
  try {
    const progress = output.progress("step");
    progress(store.steps().length, training.steps);
    let state: ReadonlyMap<string, Uint8Array> = new Map();
    const soFar = (): string => `${store.steps().length} of ${training.steps} steps`;
    await untilDispatched(output, values, soFar, async (options) => {
      state = await trainShares(training, store, {
        ...{ ...options, session, execute, urls: from },
        termsOf: (program) => dispatchTerms(session, describeProgram(program), 1, values),
        ...(place !== undefined && { place }),
        onTrained: ({ step, loss, fee }) => {
          progress(step + 1, training.steps);
          output.note(`step ${step + 1}: loss ${loss.toPrecision(6)}, fees ${amountText(fee)}`);
        },
      });
    });
    return { steps: store.steps(), state };
  } finally {
    store.close();
  }
}

function answer(output: Output, { training }: Prepared, steps: readonly TrainedStep[], file: string | undefined): void {
  const rows = steps.map(({ step, loss, jobs, fee, gas, bytes }) => [
    ...[String(step + 1), loss.toPrecision(6), String(jobs), amountText(fee), String(gas), String(bytes)],
  ]);
  const fees = steps.reduce((sum, { fee }) => sum + fee, 0n);
  const gas = steps.reduce((sum, step) => sum + step.gas, 0);
  const feedback = training.shares * [...feedbacks(training.part).values()].reduce((sum, bytes) => sum + bytes, 0);
  output.answer(
    {
      ...{ training: training.id, shares: training.shares },
      programs: { part: training.part.model.programRoot, join: training.join.model.programRoot },
      steps: steps.map((step) => ({ ...step, fee: amountText(step.fee) })),
      ...{ fee: amountText(fees), gas, ...(feedback > 0 && { feedback }), ...(file !== undefined && { file }) },
    },
    [
      ...table([["step", "loss", "jobs", "fee", "gas", "bytes of sums"], ...rows]),
      `${steps.length} steps over ${training.shares} shares: fees ${amountText(fees)} of the stake asset, gas ${gas}`,
      ...(feedback === 0
        ? []
        : [`besides, ${feedback} bytes of feedback a step, from the shares and to the next step's`]),
      ...(file === undefined ? [] : [`written to ${file}`]),
    ],
  );
}
