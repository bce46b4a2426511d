import { Command } from "commander";
import type { Address } from "viem";
import { TdxQuoteVerifier, TdxQuoteVerifierReader } from "../../chain/clients/tdxQuoteVerifier.ts";
import { bringMissing } from "../../attestation/tdx/submitCollateral.ts";
import { parseCollateral } from "../../attestation/tdx/collateralFile.ts";
import { CollateralFormError, QuoteFormError } from "../../attestation/tdx/errors.ts";
import { MAX_QUOTE_BYTES, splitQuote } from "../../attestation/tdx/quote.ts";
import { tsmSource } from "../../attestation/tdx/quoteSource.ts";
import { standingOf } from "../../attestation/tdx/platformStatus.ts";
import { readRegularFile } from "../../base/regularFile.ts";
import { table } from "../../base/text.ts";
import { timeText } from "../amount.ts";
import { accountSettings, chainSettings, readerFrom, sessionFrom } from "../chainSettings.ts";
import { addExamples } from "../globalOptions.ts";
import type { Output } from "../output.ts";
import { address, text } from "../parse.ts";
import { addSettings, optional, readSettings, required, toggle } from "../settings.ts";

/** The maximum bytes of a file of collateral: one has some 20,000. */
const MAX_COLLATERAL_BYTES = 2 ** 20;

const verifier = required<Address>("address", "the verifier of quotes of Intel TDX", address);
const statusSettings = {
  ...chainSettings,
  verifier,
  quote: optional<string>("file", "a quote of the platform", text, "one of this machine"),
};
const bringSettings = {
  ...accountSettings,
  verifier,
  skipLookUp: toggle("do not look up the serial numbers of the revocation lists"),
};

/** `refute tdx`: what Intel signs about platforms, on the chain. */
export function tdxCommand(output: Output): Command {
  const command = new Command("tdx")
    .description("Intel TDX: what the chain has of what Intel signs about a platform, and bringing it")
    .usage("status|bring ...");
  return addExamples(
    command.addCommand(statusCommand(output)).addCommand(bringCommand(output)),
    "tdx status --verifier ADDRESS",
    "tdx bring collateral.json --verifier ADDRESS",
  );
}

/** `refute tdx status`: what is short for a platform's quotes, and until when. */
function statusCommand(output: Output): Command {
  const command = new Command("status")
    .description("show what a platform's quotes need, what of it is short, and until when the rest counts")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, statusSettings);
      const quote =
        values.quote === undefined
          ? splitQuote(tsmSource()(new Uint8Array(64)), "this machine's quote")
          : splitQuote(readFile(values.quote, MAX_QUOTE_BYTES, QuoteFormError), values.quote);
      const { publicClient, deployment, fromBlock } = await readerFrom(values);
      const reader = new TdxQuoteVerifierReader(values.verifier, { publicClient });
      const { timestamp: now } = await publicClient.getBlock();
      const { chainId } = deployment;
      const standing = await standingOf(reader, quote, { chainId, now, fromBlock });
      const rows = standing.needs.map(({ what, state, until }) => [
        what,
        state,
        until === 0n ? "" : `${state === "revoked" ? "since" : "until"} ${timeText(until)}`,
      ]);
      output.answer(standing, [`device ${standing.device}, platforms ${standing.fmspc}`, ...table(rows)]);
    });
  return addSettings(command, statusSettings);
}

/** `refute tdx bring`: brings what is missing from files. */
function bringCommand(output: Output): Command {
  const command = new Command("bring")
    .description("bring what the chain lacks of what Intel signs: certificates, revocation lists, TCB info, identities")
    .argument("<files...>", "quote verification collateral, as JSON")
    .action(async (files: string[], _options: unknown, command: Command) => {
      const values = readSettings(command, bringSettings);
      // All files are read before anything is sent.
      const collaterals = files.map((file) => {
        const bytes = readFile(file, MAX_COLLATERAL_BYTES, CollateralFormError);
        return parseCollateral(new TextDecoder().decode(bytes), file);
      });
      const { publicClient, sender } = await sessionFrom(values);
      const contract = new TdxQuoteVerifier(values.verifier, { publicClient, sender });
      const brought = [];
      for (const collateral of collaterals)
        brought.push(
          ...(await bringMissing(contract, collateral, {
            lookUp: values.skipLookUp !== true,
            onBrought: ({ what, receipt }) => output.note(`brought ${what}: ${receipt.gasUsed} gas`),
          })),
        );
      const items = brought.map(({ what, receipt }) => ({ what, gas: receipt.gasUsed }));
      output.answer({ brought: items }, items.length === 0 ? "the chain has all of it" : `brought ${items.length}`);
    });
  return addSettings(command, bringSettings);
}

/** The bytes of a file. */
function readFile(
  path: string,
  max: number,
  Refusal: new (what: string, options?: ErrorOptions) => Error,
): Uint8Array {
  try {
    return readRegularFile(path, max);
  } catch (cause) {
    throw new Refusal(`${path} cannot be read: it ${(cause as Error).message}`, { cause });
  }
}
