import { Command } from "commander";
import type { Address } from "viem";
import { parseCollateral } from "../../../attestation/tdx/collateralFile.ts";
import { CollateralFormError } from "../../../attestation/tdx/errors.ts";
import { bringMissing } from "../../../attestation/tdx/submitCollateral.ts";
import { TdxQuoteVerifier } from "../../../chain/clients/tdxQuoteVerifier.ts";
import { accountSettings, sessionFrom } from "../../chainSettings.ts";
import { addExamples } from "../../globalOptions.ts";
import type { Output } from "../../output.ts";
import { address } from "../../parse.ts";
import { addSettings, readSettings, required, toggle } from "../../settings.ts";
import { readFile } from "./readFile.ts";

/** The maximum bytes of a file of collateral: one has some 20,000. */
const MAX_COLLATERAL_BYTES = 2 ** 20;

const settings = {
  ...accountSettings,
  verifier: required<Address>("address", "the verifier of quotes of Intel TDX", address),
  skipLookUp: toggle("do not look up the serial numbers of the revocation lists"),
};

/** `refute tdx bring`: brings what is missing from files. */
export function bringCommand(output: Output): Command {
  const command = new Command("bring")
    .description("bring what the chain lacks of what Intel signs: certificates, revocation lists, TCB info, identities")
    .argument("<files...>", "quote verification collateral, as JSON")
    .action(async (files: string[], _options: unknown, command: Command) => {
      const values = readSettings(command, settings);
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
  return addExamples(addSettings(command, settings), "tdx bring collateral.json --verifier ADDRESS");
}
