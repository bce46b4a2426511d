import type { Command } from "commander";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "../base/writeWhole.ts";
import type { Session } from "../chain/market/session.ts";
import type { DispatchEvent } from "../parties/dispatcher/events.ts";
import type { DispatchOptions, DispatchTerms } from "../parties/dispatcher/options.ts";
import type { ProgramDescription } from "../parties/requester/description.ts";
import { estimateFee } from "../parties/requester/estimateFee.ts";
import { minWindow, usualClaimSeconds } from "../parties/requester/postJob.ts";
import { amountAboveZero, amountText, timeText } from "./amount.ts";
import { accountSettings } from "./chainSettings.ts";
import { InterruptedError, UsageError } from "./errors.ts";
import { requireFolder } from "./folders.ts";
import type { Output } from "./output.ts";
import { as, filePath, positive, seconds, share, webUrl, whole } from "./parse.ts";
import { REFERRED } from "./references.ts";
import { defaulted, optional, required, type SettingValues } from "./settings.ts";
import { untilStopped } from "./stop.ts";
import { logOutage } from "./waiting.ts";

const DAY_SECONDS = 86_400;

/** The settings of commands that dispatch many jobs. */
export const dispatchSettings = {
  ...accountSettings,
  fee: required(
    "amount",
    "of a job, in whole units of the stake asset, or with a unit such as 50gwei",
    amountAboveZero,
  ),
  maxFee: optional<bigint>(
    "amount",
    "to which the fee of a job that nobody claims is raised, a quarter each time",
    amountAboveZero,
    "twice --fee",
  ),
  budget: required("amount", "for all fees together", amountAboveZero),
  state: required("file", "where it is kept what is done; the same command with the same file goes on", filePath),
  attempts: defaulted("n", "jobs of one part, at most", whole(1, 1_000), 5),
  check: defaulted("share", "of claims that are checked by executing here, drawn once a claim is there", share, 0.05),
  window: optional<number>("seconds", "in which watchers may dispute", seconds(1), "the shortest allowed"),
  claimSeconds: optional<number>("seconds", "that a worker has to compute", seconds(1), "1800, and the program's work"),
  deadlineSeconds: defaulted("seconds", "from a post, by which a submission must be due", seconds(1), DAY_SECONDS),
  openSeconds: defaulted("seconds", "after which a job that nobody claims is posted again for more", seconds(1), 1_800),
  withheldSeconds: defaulted("seconds", "after which outputs that nobody serves are computed here", seconds(0), 600),
  interval: defaulted("seconds", "between two looks at the chain", positive, 4),
  placeFolder: optional<string>("folder", "for inputs of jobs, which then stay off the chain", filePath, "none"),
  placeUrl: optional<string>("url", "at which your web server gives the files of --place-folder", webUrl, "none"),
};

type Values = SettingValues<typeof dispatchSettings>;

/**
 * Returns a function to put the inputs of jobs into files; undefined if inputs go on chain.
 * @throws UsageError if only a folder or only a URL is given, or if the folder is missing
 */
export function placing({ placeFolder, placeUrl }: Values, output: Output): DispatchOptions["place"] {
  if ((placeFolder === undefined) !== (placeUrl === undefined))
    throw new UsageError("--place-folder and --place-url belong together: the files, and where they are served");
  if (placeFolder === undefined || placeUrl === undefined) return undefined;
  requireFolder("--place-folder", placeFolder);
  output.note(REFERRED);
  return async (bytes, name) => {
    await writeWhole(join(placeFolder, name), ".tmp", (unfinished) => writeFile(unfinished, bytes));
    return [`${placeUrl.replace(/\/$/, "")}/${name}`];
  };
}

/** Adds the option that names workers' servers. */
export const addServers = (command: Command): Command =>
  command.option(
    "--from <url>",
    "the server of a worker that publishes its claims; repeat for more",
    (url: string, all: readonly string[] = []) => [...all, as(webUrl, "--from")(url)],
  );

/**
 * The terms of a program's jobs, with what the flags leave open.
 * @param items The most items of a job.
 * @throws UsageError if the flags do not fit each other
 */
export function dispatchTerms(
  session: Session,
  description: ProgramDescription,
  items: number,
  values: Values,
): DispatchTerms {
  const { fee, maxFee = 2n * fee, deadlineSeconds } = values;
  if (maxFee < fee) throw new UsageError(`--max-fee ${amountText(maxFee)} is below --fee ${amountText(fee)}`);
  const window = values.window ?? minWindow(session, description, items);
  const claimSeconds = values.claimSeconds ?? usualClaimSeconds(session, description, items);
  if (deadlineSeconds <= claimSeconds)
    throw new UsageError(`--deadline-seconds ${deadlineSeconds}: expected more than the ${claimSeconds} of a claim`);
  return { fee, maxFee, budget: values.budget, window, claimSeconds, deadlineSeconds, answer: false };
}

type Dispatching = Pick<DispatchOptions, "signal" | "maxAttempts" | "checkShare" | "openSeconds" | "withheldSeconds"> &
  Pick<DispatchOptions, "intervalMs" | "onOutage" | "onEvent">;

/**
 * Dispatches until it is done or stopped, and says what happens.
 * @param soFar The work done until a stop, in words.
 * @param work Dispatches with the given options.
 * @throws InterruptedError, and as `work` does
 */
export async function untilDispatched(
  output: Output,
  values: Values,
  soFar: () => string,
  work: (options: Dispatching) => Promise<unknown>,
): Promise<void> {
  const { attempts: maxAttempts, check: checkShare, openSeconds, withheldSeconds, interval } = values;
  const onStop = (): void => output.note("stops; the jobs that are posted go on; once more to stop at once");
  await untilStopped(onStop, async (signal) => {
    await work({
      ...{ signal, maxAttempts, checkShare, openSeconds, withheldSeconds, intervalMs: 1_000 * interval },
      onOutage: logOutage(output),
      onEvent: (event) => {
        const line = dispatchLine(event);
        if (line !== undefined) output.note(line);
      },
    }).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
      throw new InterruptedError(`stopped with ${soFar()} done; the same command goes on`, { cause });
    });
  });
}

/** Returns the line for an event; undefined for usual events. */
function dispatchLine(event: DispatchEvent): string | undefined {
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

/** Warns if a job's fee is too low, or is mostly spent on gas. @param items The items of a job. */
export async function warnOfLowFee(
  output: Output,
  session: Session,
  description: ProgramDescription,
  items: number,
  { fee, answer }: Pick<DispatchTerms, "fee" | "answer">,
): Promise<void> {
  const { fee: min, gas, gasPrice } = await estimateFee(session, description, { items, answer });
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
