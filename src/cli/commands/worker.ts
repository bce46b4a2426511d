import { join } from "node:path";
import { Command } from "commander";
import type { Address } from "viem";
import { Dongle } from "../../attestation/dongleClient.ts";
import { openOwnExamClaims } from "../../attestation/exams/openExamClaims.ts";
import { openExams } from "../../attestation/exams/openExams.ts";
import type { Session } from "../../chain/market/session.ts";
import { requirePackages } from "../../base/optionalPackage.ts";
import { KeyFileError } from "../../circuits/errors.ts";
import { KeyProver } from "../../circuits/prover.ts";
import { MAX_CALLBACK_GAS, MAX_OPEN_CLAIMS, MAX_SEAL_SECONDS } from "../../parties/worker/jobPolicy.ts";
import { TracePublisher } from "../../parties/worker/publisher.ts";
import { SealBook } from "../../parties/worker/sealBook.ts";
import { runWorker } from "../../parties/worker/worker.ts";
import { amountAboveZero, amountFromZero } from "../amount.ts";
import { UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { nativeSettings, openCalibrated, requireNative } from "../nativeSettings.ts";
import { address, list, oneOf, type Parse, filePath, filePaths, port, seconds, whole } from "../parse.ts";
import { referenceSettings, referencesOf } from "../references.ts";
import { STATE_FOLDER } from "../folders.ts";
import { play, playerSettings } from "../playing.ts";
import { addSettings, defaulted, optional, readSettings, type SettingValues } from "../settings.ts";

const addresses: Parse<Address[]> = (text, name) => list(text, name).map((one) => address(one, name));

const settings = {
  ...playerSettings,
  ...referenceSettings,
  minFee: defaulted(
    "amount",
    "least fee above what a job's gas costs at the price of now and half as much again, in whole units of the stake " +
      "asset, or with a unit such as 50gwei",
    amountFromZero,
    0n,
  ),
  marginSeconds: defaulted("seconds", "time to spare that a claim must leave", seconds(0), 60),
  maxCallbackGas: defaulted(
    "n",
    "most gas of a job's callback, which whoever delivers pays",
    whole(0),
    MAX_CALLBACK_GAS,
  ),
  maxOpenClaims: defaulted(
    "n",
    "most own claims that are neither final nor refuted: all can be disputed at once",
    whole(1),
    MAX_OPEN_CLAIMS,
  ),
  maxSealSeconds: defaulted(
    "seconds",
    "until a sealed submission can be opened, at most: who is not there then loses the collateral; 0 takes none",
    seconds(0),
    MAX_SEAL_SECONDS,
  ),
  maxCollateral: optional(
    "amount",
    "most that a claim may lock, in whole units of the stake asset: a job's terms can ask for more than usual",
    amountFromZero,
  ),
  seatMode: defaulted<"defend" | "watch" | "off">(
    "mode",
    "claims of a panel's other seats that differ from its own: defend (refute wrong ones, with bonds from its " +
      "credit), watch (report them) or off",
    oneOf("defend", "watch", "off"),
    "defend",
  ),
  seals: defaulted("folder", "for what opens its seals: without it their collateral is lost", filePath, STATE_FOLDER),
  dongle: optional<string>("socket", "of a dongle: it keeps the attestation from ending", filePath, "none"),
  exams: optional<Address>(
    "address",
    "the deployment's exams: it sits those of which it has the programs, with its dongle",
    address,
    "none",
  ),
  examClaims: optional<Address>(
    "address",
    "by which those exams are challenged: it answers games about its own, with its pledge",
    address,
    "none",
  ),
  selfAudit: defaulted("n", "elements that the chain recomputes, free, before a submission", whole(0), 8),
  publishPort: optional<number>("port", "serve the traces and outputs of its claims on 127.0.0.1", port, "none"),
  prove: optional<string[]>(
    "files",
    "proving keys, comma-separated: jobs whose terms name one of them end by a proof, without a window",
    filePaths,
    "none",
  ),
  native: optional<string[]>(
    "files",
    "calibrations, comma-separated: their programs are answered without exact execution where that is safe",
    filePaths,
    "none",
  ),
  nativeRequesters: optional<Address[]>(
    "addresses",
    "requesters whose jobs may be, comma-separated",
    addresses,
    "none",
  ),
  nativeExposure: optional<bigint>(
    "amount",
    "most collateral of open claims that were not executed exactly, in whole units of the stake asset",
    amountAboveZero,
    "none",
  ),
  ...nativeSettings,
};

/** Returns the settings for native execution. @throws UsageError if some are missing */
function nativePolicy({ native, nativeRequesters, nativeExposure, ...more }: SettingValues<typeof settings>) {
  const { nativeUrl, marginFactor } = more;
  requireNative({ nativeRequesters, nativeExposure, nativeUrl, marginFactor }, "--native", native !== undefined);
  if (native === undefined) return undefined;
  if (nativeRequesters === undefined || nativeExposure === undefined)
    throw new UsageError(
      "--native also needs --native-requesters (whose jobs) and --native-exposure (how much collateral may be lost)",
    );
  return { paths: native, policy: { requesters: nativeRequesters, exposure: nativeExposure } };
}

/**
 * Opens this account's seal openings on this market. An existing file must be usable: the contents may be worth the
 * collateral. If no file exists and none can be made, the worker warns and takes no sealed jobs.
 * @throws DatabaseFileError, DatabaseInUseError, DatabaseAccessError
 */
const openSeals = (folder: string, { deployment: { chainId, market }, sender }: Session): Promise<SealBook> =>
  SealBook.at(join(folder, `seals-${chainId}-${market}-${sender.address}.db`));

/** Opens the proving keys. @throws UsageError for a file without a key, or with a key that this chain refuses */
async function openProver(paths: readonly string[], { deployment: { chainId } }: Session): Promise<KeyProver> {
  requirePackages(["mcl-wasm"], "refute worker --prove");
  try {
    return await KeyProver.open(paths, chainId);
  } catch (cause) {
    if (!(cause instanceof KeyFileError)) throw cause;
    throw new UsageError(`--prove: ${cause.message}`, { cause });
  }
}

/** `refute worker`: serve jobs until stopped. */
export function workerCommand(output: Output): Command {
  const command = new Command("worker")
    .description("serve jobs: claim, execute, submit, answer disputes, finalise, deliver, collect")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { minFee, marginSeconds, maxCallbackGas, maxOpenClaims, maxSealSeconds, maxCollateral } = values;
      const { publishPort } = values;
      const policy = { minFee, marginSeconds, maxCallbackGas, maxOpenClaims, maxSealSeconds, maxCollateral };
      const native = nativePolicy(values);
      if (values.exams !== undefined && values.dongle === undefined)
        throw new UsageError("--exams also needs --dongle: a device signs what a worker reports of an exam");
      const publisher = publishPort === undefined ? undefined : new TracePublisher();
      if (values.examClaims !== undefined && values.exams === undefined)
        throw new UsageError("--exam-claims also needs --exams: it is about exams that this worker sits");
      await play("worker", values, output, async (playing, atStart) => {
        if (publishPort !== undefined)
          playing.log.info({ port: await publisher?.listen(publishPort) }, "publishes its traces");
        const programs = native && openCalibrated(native.paths, values, playing.programs, playing.log);
        const seals = await openSeals(values.seals, playing.session);
        const { exams, examClaims, prove } = values;
        const options = {
          ...playing,
          policy,
          seals,
          seatMode: values.seatMode,
          references: referencesOf(values),
          selfAuditSamples: values.selfAudit,
          publisher,
          device: values.dongle === undefined ? undefined : new Dongle(values.dongle),
          exams: exams && (await atStart(() => openExams(playing.session, exams))),
          prover: prove && (await openProver(prove, playing.session)),
          native: native && { programs: programs!, exactShare: values.exactShare, policy: native.policy },
        };
        const own = examClaims && (await atStart(() => openOwnExamClaims(playing.session, exams!, examClaims)));
        await runWorker({ ...options, examClaims: own });
        seals.close();
        await programs?.close();
        await publisher?.close();
      });
    });
  return addExamples(
    addSettings(command, settings),
    "worker --models models.json",
    "worker --models models.json --dongle dongle/dongle.sock",
    "worker --models models.json --dongle dongle/dongle.sock --exams 0x...",
    "worker --models models.json --dongle dongle/dongle.sock --exams 0x... --exam-claims 0x...",
    "worker --models models.json --min-fee 0.001 --monitor-port 9100",
    "worker --models models.json --native model.calibration.json --native-requesters 0x... --native-exposure 5",
  );
}
