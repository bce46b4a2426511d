import { join } from "node:path";
import { connect } from "../../chain/connect.ts";
import type { Session } from "../../chain/market/session.ts";
import type { SoftwareManufacturer } from "../../attestation/manufacturer.ts";
import { writeWholeSync } from "../../base/writeWhole.ts";
import { parseEther, type Address } from "viem";
import { ticketSession } from "../../parties/tickets/ticketSession.ts";
import { deployTickets } from "../network/deployContracts.ts";
import { CHAIN_ID, developmentAccount, developmentKey, TEXT_PARTIES } from "./accounts.ts";
import type { MarketProcess } from "./childProcess.ts";
import { DevnetError } from "./errors.ts";
import { letterConfig, LETTER_END, letterModel, letterTokenizer } from "./letterModel.ts";
import { giveAsset, giveCredit, giveStake } from "./parties.ts";

/** A local market's gateway, with its worker. */
export type TextService = {
  /** The base URL for applications. */
  url: string;
  model: string;
  tickets: Address;
  claims: Address;
  /** The files by which receipts are verified, as long as the market runs. */
  models: string;
  texts: string;
};

/** What starting it needs of the local market. */
type TextStart = {
  rpcUrl: string;
  session: Session;
  sessionOf: (index: number, market: Address) => Promise<Session>;
  manufacturer: SoftwareManufacturer;
  /** A folder that goes with the market. */
  folder: string;
  commandLine: readonly string[];
  start: (name: string, command: readonly string[], env: Record<string, string>) => MarketProcess;
  /** The gateway's port; 0 for any free one. */
  port: number;
};

const MODEL = "letters";
const SLOTS = 512;
/** Of tickets, which win once in a hundred times. */
const FACE = "0.001";
const DEPOSIT = parseEther("1");
/** Bonds that the gateway can have out at once. */
const BONDS = 5n;
const POLLING_MS = 50;

/**
 * Deploys tickets, and starts a worker of signed answers and a gateway that buys from it.
 * @returns its processes, and the service once it sells
 */
export async function startText(of: TextStart): Promise<{ parts: MarketProcess[]; ready: Promise<TextService> }> {
  const { rpcUrl, session, sessionOf, manufacturer, folder, commandLine, start, port } = of;
  const publicClient = await connect({ rpcUrls: [rpcUrl] }, CHAIN_ID);
  const deployer = { publicClient, account: developmentAccount(9), confirmations: 1, pollingMs: POLLING_MS };
  const { tickets, claims } = await deployTickets(deployer, { deployment: session.deployment });
  const [worker, gateway] = [
    await sessionOf(TEXT_PARTIES.worker, claims),
    await sessionOf(TEXT_PARTIES.gateway, claims),
  ];
  await giveStake(worker, manufacturer, 1);
  await (await ticketSession(worker, tickets, developmentAccount(TEXT_PARTIES.worker))).pledges.pledge();
  await giveCredit(gateway, BONDS * gateway.deployment.bond);
  await giveAsset(gateway, DEPOSIT);
  await gateway.asset.approve(tickets, DEPOSIT);
  const paying = await ticketSession(gateway, tickets, developmentAccount(TEXT_PARTIES.gateway));
  await paying.tickets.deposit(gateway.sender.address, worker.sender.address, DEPOSIT);

  const file = (name: string, content: Uint8Array | object): string => {
    const path = join(folder, name);
    writeWholeSync(path, content instanceof Uint8Array ? content : JSON.stringify(content));
    return path;
  };
  const model = file("letters.onnx", letterModel());
  const models = file("texts-models.json", [{ path: model, decoder: { slots: SLOTS, endTokens: [LETTER_END] } }]);
  const tokenizer = file("tokenizer.json", letterTokenizer());
  const config = file("tokenizer_config.json", letterConfig());
  const chain = ["--rpc-url", rpcUrl, "--chain-id", String(CHAIN_ID), "--market", claims, "--tickets", tickets];
  const common = [...chain, "--models", models, "--interval", "1", "--cache", join(folder, "texts"), "--face", FACE];
  const run = (name: string, words: readonly string[], index: number, flags: readonly string[]): MarketProcess =>
    start(name, [...commandLine, ...words, ...common, ...flags], { REFUTE_PRIVATE_KEY: developmentKey(index) });

  const serving = run("text worker", ["tickets", "serve"], TEXT_PARTIES.worker, [
    ...["--ledger", join(folder, "serve.db"), "--port", "0"],
  ]);
  const workerPort = await serving.waitForLine(portIn("serves answers"));
  if (workerPort === undefined) throw new DevnetError(`the text worker ended: ${await serving.failed}`);
  const workers = [`http://127.0.0.1:${workerPort}`];
  const texts = file("texts.json", [{ name: MODEL, model, tokenizer, config, workers }]);
  const selling = run("gateway", ["text", "gateway"], TEXT_PARTIES.gateway, [
    ...["--texts", texts, "--ledger", join(folder, "payer.db"), "--sold", join(folder, "sold.db")],
    ...["--port", String(port)],
  ]);
  const sells = selling.waitForLine((line) => (line.includes('"msg":"sells texts of a model"') ? true : undefined));
  const listens = selling.waitForLine(portIn("serves texts"));
  // The worker compiles the model too: until then it asks for patience, and the gateway has it.
  const ready = Promise.all([listens, sells]).then(([own]) => ({
    ...{ url: `http://127.0.0.1:${own}/v1`, model: MODEL, tickets, claims, models, texts },
  }));
  return { parts: [serving, selling], ready };
}

/** Finds the port in a line with a message. */
const portIn =
  (text: string) =>
  (line: string): number | undefined => {
    const port = line.includes(`"msg":"${text}"`) ? /"port":(\d+)/.exec(line)?.[1] : undefined;
    return port === undefined ? undefined : Number(port);
  };
