import { existsSync, rmdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { formatEther, type Address } from "viem";
import { keepManufacturer } from "../../attestation/standInFile.ts";
import { addressFilePath, writeAddressFile } from "../../deploy/network/writeAddressFile.ts";
import type { Devnet } from "../../deploy/devnet/devnet.ts";
import { DevnetError } from "../../deploy/devnet/errors.ts";
import { requirePackages } from "../../base/optionalPackage.ts";
import { ANVIL_PACKAGE } from "../../deploy/devnet/anvil.ts";
import { FUNDED_ETHER } from "../../deploy/devnet/accounts.ts";
import { modelEntry } from "../../deploy/devnet/modelEntry.ts";
import { knownManufacturerPem } from "../../deploy/devnet/knownManufacturer.ts";
import { removeAtExit } from "../../deploy/devnet/removeAtExit.ts";
import type { CompiledModel } from "../../program/compiled.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { InterruptedError, UsageError } from "../errors.ts";
import { addExamples } from "../globalOptions.ts";
import { appendOption, modelFlags, modelOptions, modelSpec, seedOption, type ModelOptions } from "../modelOptions.ts";
import { loadProgram, readModels } from "../models.ts";
import { commandText, inputFlags, shellWord } from "../nextCommand.ts";
import type { Line, Output } from "../output.ts";
import { address, list, filePath, filePaths, fileOrUrl, port, whole } from "../parse.ts";
import { addSettings, defaulted, optional, readSettings, toggle } from "../settings.ts";
import { untilStopped } from "../stop.ts";
import { requireFolder } from "../folders.ts";

const settings = {
  port: defaulted("port", "of the node, on 127.0.0.1; 0 takes any free one", port, 8_545),
  blockSeconds: defaulted("seconds", "between blocks", whole(1, 60), 1),
  models: optional<string>("file", "models to serve, as for refute worker, in place of --model", filePath),
  catalogue: optional<string>("source", "file or https URL of models that may be fetched for jobs", fileOrUrl),
  prove: optional<string[]>("files", "proving keys of the worker, comma-separated: refute zk setup", filePaths, "none"),
  text: toggle("also sell texts of a small decoder: a gateway for applications, and a worker that serves it"),
  textPort: defaulted("port", "of the gateway, on 127.0.0.1; 0 takes any free one", port, 8_800),
  liar: toggle("start a worker too that lies about the outputs"),
  folder: defaulted("folder", "where the address file lies while the market runs", filePath, "deployments"),
  fund: defaulted<Address[]>(
    "addresses",
    `accounts of your own, comma-separated, that get ${FUNDED_ETHER} ether each`,
    (text, name) => list(text, name).map((one) => address(one, name)),
    [],
  ),
  logs: toggle("show what worker and watcher log"),
};

type Options = ModelOptions & { model?: string[] };

/** Packages that a devnet, a worker and a watcher need. */
const packagesFor = (hasModels: boolean, hasText: boolean): string[] => [
  ...["@nomicfoundation/ignition-core", ANVIL_PACKAGE],
  ...(hasModels || hasText ? ["onnxruntime-node"] : []),
  ...(hasText ? ["@huggingface/jinja", "tiny-secp256k1"] : []),
];

/** The number of open claims that the user's own worker can stake for. */
const OWN_CLAIMS = 5n;

/** `refute devnet`: a whole market on this machine, until stopped. */
export function devnetCommand(output: Output): Command {
  const command = new Command("devnet")
    .description("start a market on this machine: chain, deployment, funded keys, worker, watcher; until Ctrl-C")
    .option("--model <file>", "a model to serve; repeat for more", appendOption)
    .action(async (options: Options, command: Command) => {
      const values = readSettings(command, settings);
      requireFolder("--folder", values.folder);
      const specs = modelSpecs(values.models, options);
      requirePackages(packagesFor(specs.length > 0, values.text), "refute devnet");
      // A model that cannot be served ends the command before anything starts.
      const programs = specs.map((spec) => loadProgram(spec, output).model);
      const { startDevnet } = await import("../../deploy/devnet/devnet.ts");
      await untilStopped(
        () => output.note("stopping; once more to stop at once"),
        async (signal) => {
          const devnet = await startDevnet({
            ...values,
            models: specs,
            modelsFile: values.models,
            hasLiar: values.liar,
            textPort: values.text ? values.textPort : undefined,
            commandLine: [process.execPath, ...process.execArgv, process.argv[1]!],
            onProgress: (what) => output.note(what),
            ...(values.logs && { onLog: (part: string, line: string) => output.note(`${part}: ${line}`) }),
            signal,
          }).catch((error: unknown) => {
            // A start that was ended has failed for no other reason.
            if (!signal.aborted) throw error;
            throw new InterruptedError("stopped before the market was ready; nothing is left of it", { cause: error });
          });
          const { folder, fund: funded } = values;
          await run(output, devnet, { specs, programs, modelsFile: values.models, folder, funded, signal });
        },
      );
    });
  return addExamples(
    addSettings(seedOption(modelOptions(command)), settings),
    "devnet --model model.onnx",
    "devnet --text",
    "devnet --model model.onnx --shape x=1,3,224,224 --liar --port 0",
  );
}

/** What the market serves. */
type About = {
  specs: readonly ModelSpec[];
  programs: readonly CompiledModel[];
  modelsFile: string | undefined;
};

/** Reports a ready market, and keeps the market until the signal. @throws DevnetError if a part ends by itself */
async function run(
  output: Output,
  devnet: Devnet,
  about: About & { folder: string; funded: readonly Address[]; signal: AbortSignal },
): Promise<void> {
  const { folder, funded, signal } = about;
  const isNew = !existsSync(folder);
  // Every local market has the same address: an existing file belongs to another market, which may run.
  const isOwn = !existsSync(addressFilePath(folder, devnet.deployment));
  let remove = (): void => {};
  try {
    const addressFile = writeAddressFile(folder, devnet.deployment, devnet.fromBlock);
    const manufacturer = join(folder, "manufacturer.json");
    keepManufacturer(manufacturer, knownManufacturerPem());
    if (isOwn) {
      const removals = [addressFile, manufacturer].map(removeAtExit);
      remove = () => removals.forEach((each) => each());
    }
    const { env, next, ownWorker, value } = words(devnet, addressFile, manufacturer, about);
    output.ready({ ...value, funded }, pageOf(devnet, addressFile, env, next, ownWorker, funded));
    const stopped = new Promise<undefined>((done) => signal.addEventListener("abort", () => done(undefined)));
    const failure = signal.aborted ? undefined : await Promise.race([devnet.failed, stopped]);
    if (failure !== undefined && !signal.aborted)
      throw new DevnetError(`${failure}; --logs shows what worker and watcher do`);
  } finally {
    await devnet.close();
    remove();
    if (isNew) removeIfEmpty(folder);
  }
}

/** Returns the words to paste, and the same for JSON. */
function words(
  { url, deployment, fromBlock, user, ownWorker: own, outputsUrl, text }: Devnet,
  addressFile: string,
  manufacturer: string,
  { specs, programs, modelsFile }: About,
) {
  const env = {
    REFUTE_RPC_URL: url,
    REFUTE_CHAIN_ID: String(deployment.chainId),
    REFUTE_MARKET: deployment.market,
    REFUTE_FROM_BLOCK: String(fromBlock),
    REFUTE_PRIVATE_KEY: user.key,
  };
  // With the flags that worker and watcher compile with: without these flags the program would differ, and nobody would
  // serve the job.
  const next = specs.map((spec, k) => {
    const words = ["submit", spec.path, ...modelFlags(spec), ...inputFlags(spec, programs[k]!)];
    return commandText([...words, "--fee", "0.05", "--wait"]);
  });
  const models = specs.map(({ path }, k) => ({ path, programRoot: programs[k]!.programRoot }));
  const stake = formatEther(OWN_CLAIMS * deployment.parameters.collateral);
  const list = modelsFile ?? "models.json";
  const ownWorker = [
    `export REFUTE_PRIVATE_KEY=${own.key}`,
    commandText(["device", "dongle", "dongle", "--manufacturer", manufacturer]),
    commandText(["device", "attest", "--dongle", "dongle/dongle.sock"]),
    commandText(["account", "deposit", stake, "--wrap"]),
    commandText(["account", "stake", stake]),
    ...(modelsFile === undefined ? [`echo ${shellWord(modelList(specs))} > ${list}`] : []),
    commandText(["worker", "--models", list, "--dongle", "dongle/dongle.sock"]),
    commandText(["watcher", "--models", list, "--mode", "watch"]),
  ];
  const value = {
    ...{ ready: true, account: user.address, env, addressFile, models, next, outputsUrl },
    ...(text && { text: { ...text, next: textCommands(text) } }),
  };
  return {
    env,
    next,
    ownWorker,
    value: { ...value, manufacturer, ownWorker: { account: own.address, commands: ownWorker } },
  };
}

/** The file of the devnet's models, or a placeholder for the user's model. */
const modelList = (specs: readonly ModelSpec[]): string =>
  specs.length > 0 ? JSON.stringify(specs.map(modelEntry)) : '[{ "path": "model.onnx" }]';

/** Reasons for the printed commands. */
function ownWorkerNotes({ deployment }: Devnet, isAlone: boolean): string[] {
  const { collateral } = deployment.parameters;
  const stake = formatEther(OWN_CLAIMS * collateral);
  return [
    `It stakes ${stake} WETH: ${formatEther(collateral)} of collateral for each of ${OWN_CLAIMS} claims at a time.`,
    ...(isAlone ? [] : ["The devnet's worker takes jobs too: yours serves alone if the devnet has no --model."]),
    "The watcher reports wrong claims. To refute them: --mode defend, with a key and credit of its own.",
  ];
}

function pageOf(
  devnet: Devnet,
  addressFile: string,
  env: Record<string, string>,
  next: readonly string[],
  ownWorker: readonly string[],
  funded: readonly Address[],
): Line[] {
  const { url, deployment, user, outputsUrl, text } = devnet;
  const serving =
    next.length === 0
      ? ["No worker runs: give --model FILE, and one serves jobs of it."]
      : [
          "A worker and a watcher serve these models. Next, with your input's file (.npy, .json or .pb):",
          ...next.map((line) => `  ${line}`),
          "The outputs of a run's items: " +
            commandText(["result", "JOB", "--item", "0", "--from", outputsUrl ?? "URL"]) +
            ", and the model with its flags",
        ];
  return [
    { text: `ready: chain ${deployment.chainId} at ${url}, market ${deployment.market}`, colour: "green" },
    "",
    "Paste this in another terminal:",
    ...Object.entries(env).map(([name, value]) => `  export ${name}=${value}`),
    "",
    ...serving,
    "",
    ...(text === undefined ? [] : textLines(text, textCommands(text))),
    "A worker of your own (docs/operating.md), after the lines to paste; dongle, worker and watcher run on:",
    ...ownWorker.map((line) => `  ${line}`),
    ...ownWorkerNotes(devnet, next.length === 0),
    "",
    `Account ${user.address} has ether and 1,000 of the stake asset. Address file: ${addressFile}`,
    ...funded.map((account) => `Account ${account} has ${FUNDED_ETHER} ether more.`),
    { text: "Everybody knows these keys: use them on this chain only.", colour: "yellow" },
    "Ctrl-C stops everything and removes the chain.",
  ];
}

function textLines({ url }: NonNullable<Devnet["text"]>, next: readonly string[]): Line[] {
  return [`A gateway sells texts at ${url} (any API key). Next:`, ...next.map((line) => `  ${line}`), ""];
}

/** Returns the lines for asking for a text and for verifying the receipt. */
function textCommands({ url, model, tickets, claims, models, texts }: NonNullable<Devnet["text"]>): string[] {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "the chain" }], max_tokens: 64 });
  const files = ["--request", "request.json", "--models", models, "--texts", texts];
  return [
    `echo ${shellWord(body)} > request.json`,
    `curl ${url}/chat/completions -H 'content-type: application/json' -d @request.json | tee answer.json`,
    commandText(["text", "receipt", "verify", "answer.json", ...files, "--tickets", tickets, "--market", claims]),
  ];
}

/** The flags for compiling a model. */
const COMPILING = [
  ...["shape", "dim", "bind", "uint8", "decide", "drawn", "noise", "seed", "seedInput", "stepBytes"],
  ...["loss", "optimiser", "frozen", "rates", "share"],
  ...["batch", "each", "index", "carry", "eachOutput", "lastOutput"],
  ...["decoder", "slots", "endToken", "greedy", "chain"],
];

/** @throws UsageError */
function modelSpecs(file: string | undefined, options: Options): ModelSpec[] {
  const paths = options.model ?? [];
  const isCompiling = COMPILING.find((key) => key in options);
  if (file !== undefined && (paths.length > 0 || isCompiling !== undefined))
    throw new UsageError("--models names the models and how they are compiled: leave out --model and its flags");
  if (file !== undefined) return readModels(file);
  if (isCompiling !== undefined && paths.length !== 1)
    throw new UsageError("flags that say how a model is compiled go with one --model: give several in --models FILE");
  return paths.map((path) => modelSpec(resolve(path), options));
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something else lies in it by now.
  }
}
