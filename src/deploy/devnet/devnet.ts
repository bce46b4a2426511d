import { createServer } from "node:net";
import { extname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEther, toHex, type Address, type Hex } from "viem";
import type { Deployment } from "../../chain/market/deployment.ts";
import { openSession, type Session } from "../../chain/market/session.ts";
import type { ModelSpec } from "../../compiler/wraps/modelSpec.ts";
import { keyFromPem } from "../../attestation/keys.ts";
import { SoftwareManufacturer } from "../../attestation/manufacturer.ts";
import { CHAIN_ID, FUNDED_ETHER, developmentAccount, developmentKey, OWN_WORKER, PLAYGROUND } from "./accounts.ts";
import { Anvil } from "./anvil.ts";
import { deployLocally } from "./deployLocally.ts";
import { DevnetError } from "./errors.ts";
import type { LiarSettings } from "./liar.ts";
import { MarketProcess } from "./childProcess.ts";
import { knownManufacturerPem } from "./knownManufacturer.ts";
import { modelEntry } from "./modelEntry.ts";
import { giveAsset, giveCredit, giveStake } from "./parties.ts";
import { startText, type TextService } from "./textParts.ts";
import { temporaryFolder } from "./temporaryFolder.ts";
import { writeWholeSync } from "../../base/writeWhole.ts";

/** The shortest window and clock that a market takes, seconds (contracts/market/ParameterChecks.sol). */
const SHORTEST = { baseWindow: 12, baseClock: 72 } as const;

/** Claims that the worker, the liar and the playground can have open at once: each that is refuted is one less. */
const CLAIMS = { worker: 20, liar: 5, playground: 50 } as const;

/** Bonds that the watcher, and the playground, can have out at once. */
const BONDS = 20n;
const USER_ASSET = parseEther("1000");
/** Of an account of one's own. */

/** How often is looked for a block while nothing but this uses the chain. */
const POLLING_MS = 50;
const READY_POLLING_MS = 200;

/** Pause of the worker's and the watcher's rounds, seconds. */
const INTERVAL = "1";

/** How a local market runs. */
type DevnetOptions = {
  /** The node's port on 127.0.0.1. */
  port: number;
  /** Between blocks. */
  blockSeconds: number;
  /** The models that worker and watcher serve; without any, neither is started. */
  models: readonly ModelSpec[];
  /** A file with further models, in the format of `refute worker`. */
  modelsFile?: string | undefined;
  /** Models that workers may fetch for jobs, in the same format that `refute worker` takes. */
  catalogue?: string | undefined;
  /** Proving keys of the worker. */
  prove?: readonly string[] | undefined;
  /** Whether another worker lies about the outputs. */
  hasLiar: boolean;
  /** The port of a gateway that sells texts of a small decoder; undefined: without. 0 takes any free one. */
  textPort?: number | undefined;
  /** Accounts that get ether. */
  fund?: readonly Address[];
  /** The command line: the program and what comes before a command's name. */
  commandLine: readonly string[];
  /** Called with what is done now. */
  onProgress?: (what: string) => void;
  /** Called with each line that a part logs. */
  onLog?: (part: string, line: string) => void;
  signal?: AbortSignal;
};

/** A local market that runs. */
export type Devnet = {
  url: string;
  deployment: Deployment;
  fromBlock: bigint;
  /** An account with ether, and 1,000 of the stake asset. */
  user: { address: Address; key: Hex };
  /** An account with ether alone, for a worker that the user runs. */
  ownWorker: { address: Address; key: Hex };
  /** The gateway, if there is one. */
  text: TextService | undefined;
  /** Where the worker shows its traces and the outputs of items; undefined without a worker. */
  outputsUrl: string | undefined;
  /** Fulfilled with the last output when the chain's node or another part ends by itself. */
  failed: Promise<string>;
  close: () => Promise<void>;
};

/**
 * Starts a chain, deploys a market with the shortest times, and starts a worker and a watcher in processes of their
 * own.
 * @throws DevnetError; the errors of a deployment
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  await requireFreePort(options.port);
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    options.onProgress?.("starting the chain");
    const anvil = await Anvil.start({ port: options.port });
    closing.push(() => anvil.close());
    options.onProgress?.("deploying");
    const maker = new SoftwareManufacturer(keyFromPem(knownManufacturerPem()));
    const { market, manufacturer } = await deployLocally(anvil.url, SHORTEST, maker);
    options.signal?.throwIfAborted();
    const sessionOf: SessionOf = (index, of = market) =>
      openSession({
        endpoint: { rpcUrls: [anvil.url] },
        chainId: CHAIN_ID,
        market: of,
        account: developmentAccount(index),
        patience: { pollingMs: POLLING_MS },
      });
    const user = await sessionOf(0);
    await giveAsset(user, USER_ASSET);
    for (const to of options.fund ?? []) {
      const balance = await user.publicClient.getBalance({ address: to });
      await anvil.request("anvil_setBalance", [to, toHex(balance + parseEther(String(FUNDED_ETHER)))]);
    }
    await giveStake(await sessionOf(PLAYGROUND.worker), manufacturer, CLAIMS.playground);
    await giveCredit(await sessionOf(PLAYGROUND.watcher), BONDS * user.deployment.bond);
    const folder = temporaryFolder("refute-devnet-");
    closing.push(() => Promise.resolve(folder.remove()));
    const start: StartPart = (name, command, env) => {
      const part = new MarketProcess(name, command, env);
      if (options.onLog !== undefined) part.onLine((line) => options.onLog!(name, line));
      closing.push(() => part.stop());
      return part;
    };
    const parts = await startParts(options, { url: anvil.url, sessionOf, manufacturer, folder: folder.path, start });
    const { textPort } = options;
    const text =
      textPort === undefined
        ? undefined
        : await startText({
            ...{
              rpcUrl: anvil.url,
              session: user,
              sessionOf,
              manufacturer,
              folder: folder.path,
              start,
              port: textPort,
            },
            commandLine: options.commandLine,
          });
    await anvil.mineEvery(options.blockSeconds);
    const processes = [...parts.map(({ part }) => part), ...(text?.parts ?? [])];
    const failed = Promise.race([
      anvil.failed,
      ...processes.map((part) => part.failed.then((last) => `the ${part.name} ended: ${last}`)),
    ]);
    if (parts.length > 0) options.onProgress?.("waiting for the worker and the watcher to compile the models");
    await untilReady(parts, failed, options.signal);
    const ended = failed.then((last) => {
      throw new DevnetError(last);
    });
    ended.catch(() => {});
    const service = await Promise.race([ended, text?.ready]);
    options.signal?.throwIfAborted();
    const { deployment } = user;
    const outputsUrl = await Promise.race([ended, parts[0]?.publisherUrl]);
    return {
      outputsUrl,
      url: anvil.url,
      deployment,
      fromBlock: 1n,
      user: { address: user.sender.address, key: developmentKey(0) },
      ownWorker: { address: developmentAccount(OWN_WORKER).address, key: developmentKey(OWN_WORKER) },
      text: service,
      failed,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

type SessionOf = (index: number, market?: Address) => Promise<Session>;
type StartPart = (name: string, command: readonly string[], env: Record<string, string>) => MarketProcess;
type Started = {
  part: MarketProcess;
  monitorUrl: Promise<string | undefined>;
  publisherUrl: Promise<string | undefined>;
};

async function startParts(
  { models, modelsFile, catalogue, prove, hasLiar, commandLine }: DevnetOptions,
  of: { url: string; sessionOf: SessionOf; manufacturer: SoftwareManufacturer; folder: string; start: StartPart },
): Promise<Started[]> {
  if (models.length === 0) return [];
  const { url, sessionOf, manufacturer, folder, start } = of;
  const list = modelsFile ?? join(folder, "models.json");
  if (modelsFile === undefined) writeWholeSync(list, JSON.stringify(models.map(modelEntry)));
  const parts: Started[] = [];
  const play = async (name: "worker" | "watcher", index: number, flags: readonly string[]): Promise<void> => {
    const { deployment } = await sessionOf(index);
    const chain = ["--rpc-url", url, "--chain-id", String(CHAIN_ID), "--market", deployment.market];
    const known = ["--models", list, "--cache", join(folder, name)];
    const more = catalogue === undefined ? [] : ["--catalogue", catalogue];
    const common = [...chain, ...known, ...more, "--interval", INTERVAL, "--monitor-port", "0"];
    const part = start(name, [...commandLine, name, ...common, ...flags], {
      REFUTE_PRIVATE_KEY: developmentKey(index),
    });
    parts.push({ part, monitorUrl: part.waitForLine(monitorIn), publisherUrl: part.waitForLine(publisherIn) });
  };

  await giveStake(await sessionOf(1), manufacturer, CLAIMS.worker);
  const watcher = await sessionOf(2);
  await giveCredit(watcher, BONDS * watcher.deployment.bond);
  const seals = ["--seals", join(folder, "worker"), "--publish-port", "0"];
  const keys = prove === undefined ? [] : ["--prove", prove.join()];
  await play("worker", 1, ["--max-open-claims", String(CLAIMS.worker), ...seals, ...keys]);
  await play("watcher", 2, ["--mode", "defend"]);
  if (hasLiar) {
    const liar = await sessionOf(3);
    await giveStake(liar, manufacturer, CLAIMS.liar);
    const settings: LiarSettings = {
      url,
      chainId: CHAIN_ID,
      market: liar.deployment.market,
      key: developmentKey(3),
      models: models.map(({ seed, ...spec }) => ({ ...spec, seed: seed?.toString() })),
      maxOpenClaims: CLAIMS.liar,
    };
    start("liar", liarCommand(), { LIAR: JSON.stringify(settings) });
  }
  return parts;
}

/** The liar's own program, beside this file: built or not. */
const liarCommand = (): string[] => [
  process.execPath,
  ...process.execArgv,
  join(import.meta.dirname, `liar${extname(import.meta.filename)}`),
];

/** Reads the URL of a part's readiness probe from the log line that announces the probe. */
function monitorIn(line: string): string | undefined {
  const port = /"port":(\d+),"msg":"monitor listens"/.exec(line)?.[1];
  return port === undefined ? undefined : `http://127.0.0.1:${port}/readyz`;
}

/** Reads the URL of a worker's published outputs from the log line that announces them. */
function publisherIn(line: string): string | undefined {
  const port = /"port":(\d+),"msg":"publishes its traces"/.exec(line)?.[1];
  return port === undefined ? undefined : `http://127.0.0.1:${port}`;
}

/**
 * Waits until each part knows its programs and has read the chain.
 * @param failed Is fulfilled when any part ends. @throws DevnetError then
 */
async function untilReady(
  parts: readonly Started[],
  failed: Promise<string>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const failure = failed.then((ended) => {
    throw new DevnetError(ended);
  });
  // After all parts are ready, callers must handle a failure.
  failure.catch(() => {});
  for (const { monitorUrl } of parts) {
    const url = await Promise.race([failure, monitorUrl]);
    while (url === undefined || !(await Promise.race([failure, ready(url)]))) {
      signal?.throwIfAborted();
      await Promise.race([failure, sleep(READY_POLLING_MS)]);
    }
  }
}

const ready = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** @throws DevnetError if something else listens there */
function requireFreePort(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", () =>
      reject(new DevnetError(`port ${port} of 127.0.0.1 is taken: name another one with --port`)),
    );
    server.listen(port, "127.0.0.1", () => server.close(() => resolve()));
  });
}
