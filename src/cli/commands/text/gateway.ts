import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { Command } from "commander";
import type { Address } from "viem";
import { runWatcher } from "../../../../watcher/watcher.ts";
import { ApiKeys } from "../../../parties/gateway/apiKeys.ts";
import { Gateway, type Offer } from "../../../parties/gateway/gateway.ts";
import { GatewayLedger } from "../../../parties/gateway/gatewayLedger.ts";
import { Sellers } from "../../../parties/gateway/sellers.ts";
import { serveGateway } from "../../../parties/gateway/server.ts";
import type { Publishing } from "../../../parties/tickets/judgeAnswer.ts";
import { PayerLedger } from "../../../parties/tickets/payerLedger.ts";
import { heldSeconds, ticketSession } from "../../../parties/tickets/ticketSession.ts";
import { heldInputs } from "../../../runs/inputs/heldInputs.ts";
import { amountAboveZero } from "../../amount.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { address, oneOf, type Parse, filePath, port, text, whole } from "../../parse.ts";
import { play, playerSettings } from "../../playing.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";
import { openText, readTexts } from "../../texts.ts";

const MIB = 2 ** 20;
const DAY_SECONDS = 86_400;
const HOUR_MS = 3_600_000;
/** Addresses that only programs of this machine reach. */
const LOCAL = /^(127(\.\d{1,3}){3}|::1|localhost)$/;

const shareFromZero: Parse<number> = (given, name) => {
  const value = Number(given);
  if (given.trim() !== "" && value >= 0 && value <= 1) return value;
  throw new UsageError(`${name} ${given}: expected a number from 0 to 1`);
};

const settings = {
  ...playerSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
  texts: required<string>(
    "file",
    "JSON array of {name, model, tokenizer, config, template, embeddings, workers}",
    filePath,
  ),
  ledger: required<string>("file", "what workers promised and what this account signed: keep it", filePath),
  sold: required<string>("file", "what was sold, with receipts and spent budgets: keep it", filePath),
  keys: optional<string>("file", "API keys, made with refute text key", filePath, "whoever reaches it may ask"),
  face: required<bigint>("amount", "most face of a ticket, in whole units of the stake asset", amountAboveZero),
  oneIn: defaulted("n", "a ticket may win once in so many times, and not more often", whole(1), 100),
  block: defaulted("tokens", "that are bought at once, each block with a claim and a ticket", whole(16, 64), 32),
  eager: toggle("stream tokens before their block is signed; if another text is signed, the stream ends with an error"),
  checkShare: defaulted(
    "share",
    "of the blocks that are executed here too, before they are given",
    shareFromZero,
    0.05,
  ),
  publishOnRefute: defaulted<Publishing>(
    "what",
    "of the prompt of a lie goes on chain: never (not even the claim), chunk (64 tokens) or all",
    oneOf("never", "chunk", "all"),
    "chunk",
  ),
  port: defaulted("port", "where texts are asked for", port, 8_800),
  host: defaulted("address", "interface that it listens on", text, "127.0.0.1"),
  bodyMib: defaulted("n", "MiB of a request, at most", whole(1, 512), 4),
  keepDays: defaulted("days", "for which receipts are kept", whole(1), 30),
};

/** `refute text gateway`: sell texts over the interface that applications know, bought from workers, until stopped. */
export function gatewayCommand(output: Output): Command {
  const command = new Command("gateway")
    .description("answer applications over HTTP with texts that are bought in signed blocks, until stopped")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { face, oneIn, block, checkShare: share, publishOnRefute: publishing } = values;
      const entries = readTexts(values.texts, values.models);
      if (values.keys === undefined && !LOCAL.test(values.host))
        throw new UsageError(`--host ${values.host}: others can reach it, so that it needs --keys FILE`);
      const keys = new ApiKeys(values.keys);
      const account = await loadAccount(values);
      await play("gateway", values, output, async (playing, atStart) => {
        const { session, programs, execute, log, signal } = playing;
        const at = await atStart(() => ticketSession(session, values.tickets, account));
        const ledger = await PayerLedger.open(values.ledger);
        const sold = await GatewayLedger.open(values.sold);
        const forget = async (): Promise<void> => {
          const { timestamp } = await at.session.publicClient.getBlock();
          ledger.forget(timestamp - BigInt(heldSeconds(at)));
          sold.forget(Number(timestamp) - values.keepDays * DAY_SECONDS);
        };
        await forget();
        const offers = new Map<string, Offer>();
        const awaited = new Set(entries.map(({ name }) => name));
        const limits = { face, oneIn };
        const secret = randomBytes(32);
        const opening = entries.map(async (entry) => {
          try {
            const model = await openText(entry, programs, signal);
            if (model === undefined) return;
            const sellers = new Sellers({
              ...{ at, ledger, urls: entry.workers, program: model.program, execute, limits },
              ...{ share, secret, publishing, log },
            });
            offers.set(entry.name, { model, sellers });
            log.info({ model: entry.name, programRoot: model.program.model.programRoot }, "sells texts of a model");
          } catch (error) {
            log.error({ model: entry.name, reason: (error as Error).message }, "a model's files cannot be used");
          } finally {
            awaited.delete(entry.name);
          }
        });
        const { eager } = values;
        const isAwaited = (name: string): boolean => awaited.has(name);
        const gateway = new Gateway({ at, ledger: sold, offers, awaited: isAwaited, limits, block, log, eager });
        const server = await serveGateway(
          { gateway, keys, log, maxBodyBytes: values.bodyMib * MIB },
          values.port,
          values.host,
        );
        log.info({ port: server.port, host: values.host }, "serves texts");
        let forgetting: Promise<void> | undefined;
        const hourly = setInterval(() => {
          forgetting = forget().catch((error: unknown) =>
            log.warn({ reason: (error as Error).message }, "what is old is forgotten later"),
          );
        }, HOUR_MS);
        try {
          // Lies that were put on chain are refuted here.
          const held = heldInputs((root) => ledger.inputsOf(root));
          await runWatcher({ ...playing, session: at.session, heldInputs: held, mode: "defend" });
        } finally {
          clearInterval(hourly);
          await server.close();
          await forgetting;
          await Promise.all(opening);
          for (const { sellers } of offers.values()) await sellers.settled();
          sold.end();
          ledger.end();
        }
      });
    });
  return addExamples(
    addSettings(command, settings),
    `text gateway --models models.json --texts texts.json --tickets 0x... --ledger ${join("state", "payer.db")} ` +
      `--sold ${join("state", "sold.db")} --keys keys.json --face 0.01`,
  );
}
