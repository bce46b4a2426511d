import { Command } from "commander";
import { formatEther, formatGwei } from "viem";
import { InsufficientGasFundsError, SIGNS_NO_BLOBS } from "../../chain/errors.ts";
import { deposit } from "../../chain/market/deposit.ts";
import type { Session } from "../../chain/market/session.ts";
import { knownProgram } from "../../dispute/run/execution.ts";
import { describeProgram } from "../../parties/requester/describeProgram.ts";
import { estimateFee, type FeeEstimate } from "../../parties/requester/estimateFee.ts";
import { checkJob, minWindow, packInputs, postJob, usualClaimSeconds } from "../../parties/requester/postJob.ts";
import { postingGas, type PostingGas } from "../../parties/requester/postingGas.ts";
import { amountAboveZero } from "../amount.ts";
import { blobCostLine, blobSettings, planBlobs, requireBlobsLast, type PlannedBlobs } from "../blobs.ts";
import { accountSettings, sessionFrom } from "../chainSettings.ts";
import { UsageError } from "../errors.ts";
import { warnOfLowFee, warnOfNobody } from "../feeWarning.ts";
import { textLines, textOf } from "../generatedText.ts";
import { generationOptions, type GenerationOptions } from "../generationOptions.ts";
import { addExamples } from "../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { loadAccount } from "../keys.ts";
import type { Output } from "../output.ts";
import { MAX_ITEMS } from "../../program/run.ts";
import { seconds, webUrl, whole } from "../parse.ts";
import { itemsNote, prepareJob } from "../prepareJob.ts";
import { checkReferences, REFERRED, sourceSettings } from "../references.ts";
import { rareSettings, rareTerms } from "../rareTerms.ts";
import { addSettings, defaulted, inGroup, optional, readSettings, required, toggle } from "../settings.ts";
import { GROUPS } from "../words/helpGroups.ts";
import {
  outputFlagOf,
  outputOptions,
  outputsJson,
  presentationOf,
  writeOutputs,
  type OutputOptions,
} from "../decoded.ts";
import { streamUntil } from "../streamedText.ts";
import { resultLines, waitOnTerminal } from "../waiting.ts";

const DAY_SECONDS = 86_400;

const PUBLIC = "the inputs and outputs of a job are public: anybody can read them on the chain";

const settings = {
  ...accountSettings,
  fee: required("amount", "fee, in whole units of the stake asset, or with a unit such as 50gwei", amountAboveZero),
  window: optional<number>("seconds", "in which watchers may dispute", seconds(1), "the shortest allowed"),
  claimSeconds: optional<number>("seconds", "that a worker has to compute", seconds(1), "1800, and the program's work"),
  ...inGroup("run", {
    items: optional<number>("n", "items of a run", whole(1, MAX_ITEMS), "as many as files are given, or 1"),
    firstItem: defaulted("n", "what an input that is the index reads in the first item", whole(0, 2 ** 32 - 1), 0),
  }),
  answer: toggle("claims are the roots of the outputs alone; what leads to them is owed only in a dispute"),
  deadlineSeconds: defaulted("seconds", "from now, by which a submission must be due", seconds(1), DAY_SECONDS),
  ...rareSettings,
  ...inGroup("places", {
    ...sourceSettings,
    ...blobSettings,
    uncheckedReference: toggle("post without fetching the inputs from where --reference says that they lie"),
  }),
  ...inGroup("decoder", {
    stream: optional<string>(
      "url",
      "of a worker's server (--publish-port): print a text as that worker computes it; with --decoder and --wait",
      webUrl,
      "none",
    ),
  }),
  wait: toggle("wait until the result is final, and print the outputs; refute result JOB --wait resumes"),
};

type Options = ModelOptions & GenerationOptions & OutputOptions & { input?: string[]; reference?: string[] };

/** `refute submit`: post a job, and if asked wait for its result. */
export function submitCommand(output: Output): Command {
  const command = new Command("submit")
    .description("post a job: run this model on these inputs. Inputs and outputs are public")
    .argument("<model>", "ONNX file")
    .option(
      "--input <name=file>",
      "an input: a tensor as .npy, .pb or .json, or its bytes, little-endian; repeat for more; an input that each " +
        "item of a run has of its own takes a file for each item, or a folder of them",
      appendOption,
    )
    .optionsGroup(GROUPS.places)
    .option(
      "--reference <uri>",
      "where the inputs lie (https://..., ipfs://CID, s3://BUCKET/KEY, blobs:TRANSACTION,...), instead of on the " +
        "chain; repeat for more. Such a job protects only those who can fetch them: keep the file of refute job pack " +
        "there until it is final",
      appendOption,
    )
    .optionsGroup("")
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const { fee, deadlineSeconds } = values;
      requireTimeToClaim(deadlineSeconds, values.claimSeconds ?? 0);
      const spec = modelSpec(path, options);
      const { firstItem, answer, blobs: byBlobs, blobsSent: sent } = values;
      const { reference: places = [] } = options;
      requireBlobFlags(values);
      const shownBy = outputFlagOf(options);
      if (shownBy !== undefined && !values.wait)
        throw new UsageError(`${shownBy} also needs --wait: without it there are no outputs yet (refute result JOB)`);
      if (values.stream !== undefined && (spec.decoder === undefined || !values.wait))
        throw new UsageError("--stream also needs --decoder and --wait: it shows the text of a job that is waited for");
      const { compiled, inputs, items, flags, tokenizer, prompt } = await prepareJob(
        spec,
        { ...options, items: values.items, firstItem },
        output,
      );
      const program = describeProgram(knownProgram(compiled));
      if (spec.run !== undefined) output.note(itemsNote(compiled, items));
      const { shown, files } = presentationOf(program, options);
      const account = byBlobs ? await loadAccount(values) : undefined;
      const session = await sessionFrom(values, undefined, account);
      const blobs = account && (await planBlobs(session, packInputs(program, inputs, items), { account, sent }));
      const references = referencesOf(places, blobs?.placeholder);
      const { timestamp } = await session.publicClient.getBlock();
      const window = values.window ?? minWindow(session, program, items);
      const claimSeconds = values.claimSeconds ?? usualClaimSeconds(session, program, items);
      requireTimeToClaim(deadlineSeconds, claimSeconds);
      const deadline = timestamp + BigInt(deadlineSeconds);
      const rare = rareTerms(values, session.deployment.parameters.collateral);
      const terms = {
        items,
        firstItem,
        fee,
        window,
        claimSeconds,
        deadline,
        answer,
        ...(rare && { rare }),
        ...(references && { references }),
      };
      await checkJob(session, program, inputs, terms);
      if (blobs !== undefined) requireBlobsLast(terms, program, session, blobs.since ?? timestamp);
      if (places.length > 0 && !values.uncheckedReference)
        await checkReferences(places, program, { inputs, items }, { values, chain: session.publicClient });
      const estimate = await estimateFee(session, program, terms);
      const posting = postingGas(program, items, inputs, references);
      await requireGasFunds(session, posting, estimate, blobs);
      warnOfLowFee(output, estimate, fee);
      await warnOfNobody(output, session, [program.programRoot]);
      if (blobs !== undefined) output.note(blobCostLine(blobs.costs));
      output.note(references === undefined ? PUBLIC : REFERRED);
      const { credit } = await session.vault.accountOf(session.sender.address);
      if (credit < fee) await deposit(session, fee - credit);
      // The deadline is that of the post: blobs may take their time.
      const sendBlobs = async ({ send }: PlannedBlobs) => {
        // The note stays after a killed process: the transactions need not be sent again.
        const { place, transactions, since } = await send({
          onOffered: (hash) => output.note(`blobs are offered: ${hash}`),
          onSent: (done, total) => output.note(`blobs ${done.length}/${total}: ${done.at(-1)}`),
        });
        output.note(
          `the inputs are in blobs. If the job is not posted, go on with --blobs-sent ${transactions.join()}`,
        );
        const now = (await session.publicClient.getBlock()).timestamp;
        const own = { references: referencesOf(places, place)!, deadline: now + BigInt(deadlineSeconds) };
        requireBlobsLast({ ...terms, ...own }, program, session, since);
        return own;
      };
      const posted = blobs === undefined ? terms : { ...terms, ...(await sendBlobs(blobs)) };
      const { jobId } = await postJob(session, program, inputs, posted, output.progress("posting part"));
      if (!values.wait) return output.answer({ job: jobId }, `job ${jobId}`);
      output.note(`job ${jobId}`);
      const trusted = values.proofKey === undefined ? [] : [values.proofKey];
      const again = ["--model", path, ...flags];
      const waiting = () => waitOnTerminal(output, jobId, true, () => Promise.resolve(session), again, trusted);
      const { stream: url } = values;
      const streamed = url && { program, jobId, items, prompt: prompt!, tokenizer, url };
      const result = streamed ? await streamUntil(output, streamed, waiting) : await waiting();
      const { programRoot, worker, root, provenBy } = result;
      const text = tokenizer && textOf(tokenizer, program)({ items, inputs, outputs: result.outputs });
      writeOutputs(result.outputs, program, files, true);
      const outputs = outputsJson(result.outputs, shown);
      const value = { job: jobId, programRoot, worker, root, provenBy, outputs, text };
      output.answer(value, [`job ${jobId}`, ...resultLines(result, shown), ...textLines(text)]);
    });
  return addExamples(
    addSettings(generationOptions(seedOption(modelOptions(outputOptions(command)))), settings),
    "submit model.onnx --input x=x.npy --fee 0.05 --wait",
    "submit model.onnx --input x=x.npy --fee 0.05 --wait --top 5 --output scores=scores.npy",
    "submit model.onnx --input x=x.npy --fee 0.05 --reference https://files.example/inputs.bin",
    "submit model.onnx --batch --input x=pictures/ --fee 0.2",
    "submit model.onnx --decoder --prompt 1,2,3 --tokens 60 --fee 0.2 --wait",
    'submit model.onnx --decoder --tokenizer tokenizer.json --prompt "Once upon" --tokens 60 --fee 0.2 --wait',
  );
}

/** The first of several transactions is not sent if the last could not be paid. @throws InsufficientGasFundsError */
async function requireGasFunds(
  { sender: { address }, publicClient }: Session,
  { gas }: PostingGas,
  { gasPrice }: FeeEstimate,
  blobs: PlannedBlobs | undefined,
): Promise<void> {
  const ofBlobs = blobs?.costs.offered ?? 0n;
  const [balance, cost] = [await publicClient.getBalance({ address }), BigInt(gas) * gasPrice + ofBlobs];
  if (balance >= cost) return;
  const beside = blobs === undefined ? "" : `, and ${formatEther(ofBlobs)} that blobs offer`;
  throw new InsufficientGasFundsError(
    `${address} has ${formatEther(balance)} of the native token, and posting may take ${formatEther(cost)} ` +
      `(${gas} gas at ${formatGwei(gasPrice)} gwei${beside}): send it more; nothing was sent`,
  );
}

/** Where the inputs lie; undefined if they are posted. */
const referencesOf = (places: readonly string[], blobs: string | undefined): string[] | undefined => {
  const all = blobs === undefined ? [...places] : [...places, blobs];
  return all.length === 0 ? undefined : all;
};

/** @throws UsageError if flags about blobs do not go together */
function requireBlobFlags({
  blobs,
  blobsSent,
  signer,
}: {
  blobs: boolean;
  blobsSent?: unknown;
  signer?: unknown;
}): void {
  if (blobsSent !== undefined && !blobs) throw new UsageError("--blobs-sent also needs --blobs");
  if (blobs && signer !== undefined) throw new UsageError(`--blobs: what --signer names ${SIGNS_NO_BLOBS}`);
}

/** @throws UsageError if a claim would be due after the deadline */
function requireTimeToClaim(deadlineSeconds: number, claimSeconds: number): void {
  if (deadlineSeconds < claimSeconds)
    throw new UsageError(
      `--deadline-seconds ${deadlineSeconds}: expected at least the ${claimSeconds} of --claim-seconds`,
    );
}
