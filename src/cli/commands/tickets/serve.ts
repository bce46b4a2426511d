import { Command } from "commander";
import { join } from "node:path";
import type { Address } from "viem";
import { AnswerService } from "../../../parties/tickets/answerService.ts";
import { Cashier } from "../../../parties/tickets/cashier.ts";
import { heldInputs } from "../../../runs/inputs/heldInputs.ts";
import { endpointOf, listen } from "../../../parties/tickets/http.ts";
import { serveClaims } from "../../../parties/tickets/serveClaims.ts";
import { loadFindSigner } from "../../../parties/tickets/signatures.ts";
import { ticketSession } from "../../../parties/tickets/ticketSession.ts";
import { WorkerLedger } from "../../../parties/tickets/workerLedger.ts";
import { amountAboveZero } from "../../amount.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { address, filePath, port, text, whole } from "../../parse.ts";
import { play, playerSettings } from "../../playing.ts";
import { addSettings, defaulted, readSettings, required } from "../../settings.ts";

const MIB = 2 ** 20;

const settings = {
  ...playerSettings,
  tickets: required<Address>("address", "the contract of the tickets; --market is that of its claims", address),
  ledger: required<string>(
    "file",
    "what this worker signs and is owed: money is in it, never restore an old copy",
    filePath,
  ),
  face: required<bigint>("amount", "least face of a ticket, in whole units of the stake asset", amountAboveZero),
  oneIn: defaulted("n", "a ticket may win as rarely as once in so many times", whole(1), 100),
  port: defaulted("port", "where answers are asked for", port, 8_700),
  host: defaulted("address", "interface that it listens on", text, "127.0.0.1"),
  unpaid: defaulted("n", "answers that one payer may hold unpaid, each covered by its deposit", whole(1, 1_000), 16),
  bodyMib: defaulted("n", "MiB of a request, at most", whole(1, 512), 16),
};

/** `refute tickets serve`: answer over HTTP with signed claims until stopped. */
export function serveCommand(output: Output): Command {
  const command = new Command("serve")
    .description("answer over HTTP with signed claims that are paid by lottery tickets; needs a pledge")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const account = await loadAccount(values);
      await play("serve", values, output, async (playing, atStart) => {
        const { session, programs, execute, log } = playing;
        const at = await atStart(() => ticketSession(session, values.tickets, account));
        const findSigner = await loadFindSigner();
        const ledger = await WorkerLedger.open(values.ledger);
        const service = new AnswerService({
          ...{ at, ledger, programs, execute, findSigner },
          price: { face: values.face, oneIn: values.oneIn },
          maxBodyBytes: values.bodyMib * MIB,
          maxUnpaid: values.unpaid,
          onPace: (programRoot, { itemsAMinute, secondsAnItem }) => {
            const isText = programs.specOf(programRoot)?.decoder !== undefined;
            const what = isText ? "tokens a minute that can be sold" : "items a minute that can be sold";
            log.info({ programRoot, aMinute: Number(itemsAMinute.toPrecision(2)), secondsAnItem }, what);
          },
        });
        const failed = (error: unknown): void => log.error({ reason: (error as Error).message }, "a request failed");
        const endpoint = await listen(endpointOf(service, failed), values.port, values.host);
        log.info({ port: endpoint.port, host: values.host }, "serves answers");
        const cashier = new Cashier({ at, ledger, programs, log });
        const held = heldInputs((root) => ledger.inputsOf(root));
        try {
          await serveClaims({ ...playing, at, ledger, cashier, heldInputs: held });
        } finally {
          // Answers under way are given, then the ledger is closed.
          await service.stop();
          await endpoint.close();
          ledger.end();
        }
      });
    });
  return addExamples(
    addSettings(command, settings),
    `tickets serve --models models.json --tickets 0x... --ledger ${join("state", "serve.db")} --face 0.01`,
  );
}
