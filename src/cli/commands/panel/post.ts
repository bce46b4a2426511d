import { Command } from "commander";
import { knownProgram } from "../../../dispute/run/execution.ts";
import { heldInputs } from "../../../runs/inputs/heldInputs.ts";
import { MAX_ITEMS } from "../../../program/run.ts";
import { describeProgram } from "../../../parties/requester/describeProgram.ts";
import { estimateFee } from "../../../parties/requester/estimateFee.ts";
import {
  minSealSeconds,
  MAX_SEATS,
  openPanel,
  panelFees,
  panelTimes,
  postPanel,
  usualSealSeconds,
  type PanelTerms,
} from "../../../parties/requester/panel.ts";
import { minWindow, usualClaimSeconds } from "../../../parties/requester/postJob.ts";
import { MAX_SEAL_SECONDS } from "../../../parties/worker/jobPolicy.ts";
import { amountAboveZero, timeText } from "../../amount.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { warnOfLowFee, warnOfNobody } from "../../feeWarning.ts";
import { generationOptions, type GenerationOptions } from "../../generationOptions.ts";
import { addExamples } from "../../globalOptions.ts";
import { appendOption, modelOptions, modelSpec, seedOption, type ModelOptions } from "../../modelOptions.ts";
import { moneyOf } from "../../money.ts";
import type { Output } from "../../output.ts";
import { followOnTerminal, followSettings, panelSetting } from "./panels.ts";
import { seconds, whole } from "../../parse.ts";
import { prepareJob } from "../../prepareJob.ts";
import { rareSettings, rareTerms } from "../../rareTerms.ts";
import { checkReferences, REFERRED, sourceSettings } from "../../references.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";

const { collateral, spread, stakedSince, maxRefuted, maxLate, manufacturer, class: ofClass } = rareSettings;

const settings = {
  ...accountSettings,
  ...panelSetting,
  seats: defaulted("n", "workers that are asked, each for itself", whole(1, MAX_SEATS), 3),
  fee: required("amount", "of each seat, in whole units of the stake asset, or with a unit", amountAboveZero),
  window: optional<number>("seconds", "in which watchers may dispute", seconds(1), "the shortest allowed"),
  claimSeconds: optional<number>("seconds", "that a worker has to compute", seconds(1), "1800, and the program's work"),
  sealSeconds: optional<number>(
    "seconds",
    "from now, until all seats are sealed; as long again for a seat that is added",
    seconds(1),
    "twice --claim-seconds, at least 120 more than these",
  ),
  items: optional<number>("n", "items of a run", whole(1, MAX_ITEMS), "as many as files are given, or 1"),
  firstItem: defaulted("n", "what an input that is the index reads in the first item", whole(0, 2 ** 32 - 1), 0),
  answer: toggle("claims are the roots of the outputs alone; what leads to them is owed only in a dispute"),
  ...{ collateral, spread, stakedSince, maxRefuted, maxLate, manufacturer, class: ofClass },
  ...sourceSettings,
  uncheckedReference: toggle("post without fetching the inputs from where --reference says that they lie"),
  ...followSettings,
  wait: toggle("follow the panel to its end: needed for --audit, whose seat this command adds"),
};

type Options = ModelOptions & GenerationOptions & { input?: string[]; reference?: string[] };

/** `refute panel post`: asks several workers the same; no worker sees another answer before sealing. */
export function postCommand(output: Output): Command {
  const command = new Command("post")
    .description("ask several workers the same, none of whom sees the others' answers. Inputs are public")
    .argument("<model>", "ONNX file")
    .option("--input <name=file>", "an input, as for refute submit; repeat for more", appendOption)
    .option("--reference <uri>", "where the inputs lie, as for refute submit; repeat for more", appendOption)
    .action(async (path: string, options: Options, command: Command) => {
      const values = readSettings(command, settings);
      const { reference: references } = options;
      const { fee, seats, firstItem, answer, audit, agreed, wait } = values;
      if (!wait && (audit !== undefined || agreed))
        throw new UsageError(`--${audit === undefined ? "agreed" : "audit"} also needs --wait`);
      const { compiled, inputs, items } = await prepareJob(
        modelSpec(path, options),
        { ...options, items: values.items, firstItem },
        output,
      );
      const program = describeProgram(knownProgram(compiled));
      const session = await sessionFrom(values);
      const panel = await openPanel(session, values.panel);
      const { timestamp } = await session.publicClient.getBlock();
      const claimSeconds = values.claimSeconds ?? usualClaimSeconds(session, program, items);
      const sealSeconds = values.sealSeconds ?? usualSealSeconds(claimSeconds);
      const minSeal = minSealSeconds(claimSeconds);
      if (sealSeconds < minSeal)
        throw new UsageError(
          `--seal-seconds ${sealSeconds}: expected at least ${minSeal}, 120 more than --claim-seconds`,
        );
      const min = session.deployment.parameters.collateral;
      const { collateral, ...asked } = rareTerms(values, min) ?? { collateral: min };
      const times = panelTimes(timestamp, claimSeconds, { hasAudit: audit !== undefined, sealSeconds });
      const terms: PanelTerms = {
        ...{ items, firstItem, fee, claimSeconds, answer, seats },
        window: values.window ?? minWindow(session, program, items),
        ...times,
        rare: { ...asked, collateral },
        ...(references && { references }),
      };
      if (references !== undefined && !values.uncheckedReference)
        await checkReferences(references, program, { inputs, items }, { values, chain: session.publicClient });
      const { openFrom } = times;
      const sealed = { items, answer, maxOutputBytes: 0, rare: { collateral, openFrom } };
      warnOfLowFee(output, await estimateFee(session, program, sealed), fee);
      await warnOfNobody(output, session, [program.programRoot]);
      if (BigInt(openFrom) > timestamp + BigInt(MAX_SEAL_SECONDS))
        output.note(
          `workers that do not say otherwise take no seat that opens more than ${MAX_SEAL_SECONDS / 3_600} h after ` +
            "they claim it (--max-seal-seconds of refute worker): make --claim-seconds or --seal-seconds shorter",
        );
      const fees = (await moneyOf(session))(panelFees(terms));
      output.note([
        references === undefined
          ? "the inputs and outputs of a panel are public: anybody can read them on the chain"
          : REFERRED,
        `takes ${fees} in fees; seats are opened from ${timeText(BigInt(openFrom))}`,
      ]);
      const { panelId, jobs } = await postPanel(session, panel, program, inputs, terms, (id) =>
        output.note(`posts panel ${id}`),
      );
      if (!wait)
        return output.answer({ panel: panelId, jobs, ...times }, [
          `panel ${panelId}`,
          ...jobs.map((job, k) => `seat ${k + 1}: job ${job}`),
        ]);
      output.note(`panel ${panelId}`);
      const judging = { programs: [knownProgram(compiled)], heldInputs: heldInputs(() => inputs) };
      await followOnTerminal(output, session, panel, panelId, { audit, agreed, isPosted: true }, judging);
    });
  return addExamples(
    addSettings(generationOptions(seedOption(modelOptions(command))), settings),
    "panel post model.onnx --input x=x.npy --seats 3 --fee 0.05 --panel 0x... --wait",
    "panel post model.onnx --input x=x.npy --seats 1 --audit 10% --fee 0.05 --panel 0x... --wait",
  );
}
