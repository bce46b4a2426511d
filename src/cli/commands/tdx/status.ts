import { Command } from "commander";
import type { Address } from "viem";
import { QuoteFormError } from "../../../attestation/tdx/errors.ts";
import { standingOf } from "../../../attestation/tdx/platformStatus.ts";
import { MAX_QUOTE_BYTES, splitQuote } from "../../../attestation/tdx/quote.ts";
import { tsmSource } from "../../../attestation/tdx/quoteSource.ts";
import { table } from "../../../base/text.ts";
import { TdxQuoteVerifierReader } from "../../../chain/clients/tdxQuoteVerifier.ts";
import { timeText } from "../../amount.ts";
import { chainSettings, readerFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { address, filePath } from "../../parse.ts";
import { addSettings, optional, readSettings, required } from "../../settings.ts";
import { readFile } from "./readFile.ts";

const settings = {
  ...chainSettings,
  verifier: required<Address>("address", "the verifier of quotes of Intel TDX", address),
  quote: optional<string>("file", "a quote of the platform", filePath, "one of this machine"),
};

/** `refute tdx status`: shows the data missing for a platform's quotes, and until when the rest counts. */
export function statusCommand(output: Output): Command {
  const command = new Command("status")
    .description("show what a platform's quotes need, what of it is short, and until when the rest counts")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const quote =
        values.quote === undefined
          ? splitQuote(tsmSource()(new Uint8Array(64)), "this machine's quote")
          : splitQuote(readFile(values.quote, MAX_QUOTE_BYTES, QuoteFormError), values.quote);
      const { publicClient, deployment, fromBlock } = await readerFrom(values);
      const reader = new TdxQuoteVerifierReader(values.verifier, { publicClient });
      const { timestamp: now } = await publicClient.getBlock();
      const { chainId, asset: older } = deployment;
      const standing = await standingOf(reader, quote, { chainId, now, fromBlock, older });
      const rows = standing.needs.map(({ what, state, until }) => [
        what,
        state,
        until === 0n ? "" : `${state === "revoked" ? "since" : "until"} ${timeText(until)}`,
      ]);
      output.answer(standing, [`device ${standing.device}, platforms ${standing.fmspc}`, ...table(rows)]);
    });
  return addExamples(addSettings(command, settings), "tdx status --verifier ADDRESS");
}
