import { Command } from "commander";
import { zeroHash, type Address, type Hex } from "viem";
import { TicketsReader } from "../../../chain/clients/tickets.ts";
import { ValidationError } from "../../../parties/gateway/errors.ts";
import { validateClaim } from "../../../parties/gateway/validateClaim.ts";
import { ticketSession } from "../../../parties/tickets/ticketSession.ts";
import { timeText } from "../../amount.ts";
import { readerFrom, sessionFrom } from "../../chainSettings.ts";
import { NotReadyError, UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { address, bytes32, whole } from "../../parse.ts";
import { openReceiptFile, receiptSettings } from "../../receipts.ts";
import { addSettings, defaulted, readSettings, required, toggle } from "../../settings.ts";
import { untilStopped } from "../../stop.ts";

const settings = {
  ...receiptSettings,
  validator: required<Address>("address", "the validator, made with refute deploy validator", address),
  agent: required<number>("id", "the agent in ERC-8004's identity registry; the account owns it", whole(0)),
  block: defaulted("number", "block of the receipt, from 0: each is a claim of its own", whole(0), 0),
  salt: defaulted<Hex>("hash", "another one, if somebody else took the hash of the request", bytes32, zeroHash),
  wait: toggle("wait until the claim is final or refuted, and report; else do what can be done now"),
};

/** `refute text validate`: has a claim of a receipt validated in ERC-8004's registry. */
export function validateCommand(output: Output): Command {
  const command = new Command("validate")
    .description("put a claim of a receipt on chain, ask for its validation for an agent of ERC-8004, and report it")
    .argument("<file>", "the receipt, or an answer of the gateway that has it")
    .action(async (file: string, _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { validator, agent, block, salt, wait, tickets } = values;
      const claimLifetime = await new TicketsReader(tickets, await readerFrom(values)).claimLifetime();
      const { program, runs, receipt } = await openReceiptFile(file, values, claimLifetime, output);
      const run = runs[block];
      if (run === undefined) throw new UsageError(`--block ${block}: the receipt has ${runs.length} blocks, from 0`);
      const account = await loadAccount(values);
      const at = await ticketSession(await sessionFrom(values, undefined, account), tickets, account);
      const onPhase = (phase: string, until?: bigint): void =>
        output.note(until === undefined ? phase : `${phase}: ${timeText(until)}`);
      const options = { validator, agentId: BigInt(agent), salt, wait, onPhase };
      const done = await untilStopped(
        () => output.note("stops waiting; once more to stop at once"),
        (signal) => validateClaim(at, program, run, { ...options, signal }),
      );
      const about = { id: receipt.id, block, agent, claim: done.claimId, request: done.requestHash };
      if ("until" in done)
        throw new NotReadyError(
          `asked as ${done.requestHash}; the claim can be disputed until ${timeText(done.until)}: ` +
            "run the same command again after that, or with --wait",
        );
      const { response, tag } = done.answer;
      if (response !== 100)
        throw new ValidationError(`block ${block} of ${receipt.id} was refuted: the registry has ${response}, ${tag}`);
      output.answer({ ...about, response, tag }, [
        `block ${block} of ${receipt.id} is final: the registry has ${response} for agent ${agent}, ${tag}`,
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "text validate answer.json --request request.json --models models.json --texts texts.json --tickets 0x... " +
      "--agent 7 --validator 0x... --wait",
  );
}
