import { Command } from "commander";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { keccak256, pad, toHex } from "viem";
import { DEFAULT_TDX_GRACE } from "../../../../ignition/defaults.ts";
import { TdxQuoteVerifierReader } from "../../../chain/clients/tdxQuoteVerifier.ts";
import { connect } from "../../../chain/connect.ts";
import { readCertificate } from "../../../attestation/tdx/certificates.ts";
import { FileError, readRegularFile } from "../../../base/regularFile.ts";
import { chainSettings, keySettings } from "../../chainSettings.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import { requirePackages } from "../../../base/optionalPackage.ts";
import type { Output } from "../../output.ts";
import { filePath, seconds, whole } from "../../parse.ts";
import { addSettings, defaulted, optional, readSettings } from "../../settings.ts";
import { programWords } from "../../words/programWords.ts";
import type { TdxRoot } from "../../../deploy/network/deployContracts.ts";
import { requireFolder } from "../../folders.ts";

/** The most bytes of a certificate's file: Intel's root has 659. */
const MAX_CERTIFICATE_BYTES = 2 ** 16;

const { rpcUrl, chainId } = chainSettings;
const settings = {
  root: optional<string>("file", "certificate of another root, in PEM or DER: for tests", filePath, "Intel's"),
  grace: defaulted(
    "seconds",
    "how long a lower number of Intel's documents counts after a higher one was first brought",
    seconds(0),
    DEFAULT_TDX_GRACE,
  ),
  folder: defaulted("folder", "where the journal goes", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of a transaction before the next one", whole(1), 5),
  rpcUrl,
  chainId,
  ...keySettings,
};

/** `refute deploy tdx`: deploys a verifier of quotes of Intel TDX. */
export function deployTdxCommand(output: Output): Command {
  const command = new Command("tdx")
    .description("deploy a verifier of quotes of Intel TDX for good; markets name it among their manufacturers")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { folder, confirmations, grace } = values;
      requireFolder("--folder", folder);
      requirePackages(["@nomicfoundation/ignition-core"], "refute deploy tdx");
      const root = values.root === undefined ? undefined : readRoot(values.root);
      const account = await loadAccount(values);
      const publicClient = await connect({ rpcUrls: values.rpcUrl }, values.chainId);
      const { deployTdx } = await import("../../../deploy/network/deployContracts.ts");
      // A verifier under another root, or with another grace, is another deployment.
      const content = keccak256(toHex(JSON.stringify([root, grace]))).slice(2, 10);
      const journal = join(folder, `${values.chainId}-tdx-${content}-journal`);
      const onSent = (what: string): void => output.note(`sent ${what}`);
      const deployer = { publicClient, account, journal, confirmations, onSent };
      const verifier = await deployTdx(deployer, { root, grace });
      // The deployed contract answers: no authority is known yet.
      const authorities = await new TdxQuoteVerifierReader(verifier, { publicClient }).authorities();
      const manufacturer = pad(verifier).toLowerCase();
      output.answer({ verifier, manufacturer, authorities: authorities.length }, [
        `verifier ${verifier}; keep the journal ${journal}`,
        "To have a market take such machines, name it among its manufacturers:",
        `  ${programWords()} deploy --manufacturers ${manufacturer} ...`,
        "Then bring what Intel signs, and attest in a trust domain:",
        `  ${programWords()} tdx bring collateral.json --verifier ${verifier}`,
        `  ${programWords()} device attest --tdx ${verifier}`,
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "deploy tdx --keystore key.json",
    "deploy tdx --root test-root.pem --keystore key.json",
  );
}

/** A root by its certificate. @throws UsageError */
function readRoot(path: string): TdxRoot {
  const expected = "expected the certificate of a root with a P-256 key, which signs itself";
  try {
    const certificate = new X509Certificate(readRegularFile(path, MAX_CERTIFICATE_BYTES));
    const { key, subject, issuer } = readCertificate(new Uint8Array(certificate.raw), path);
    if (subject !== issuer || !certificate.verify(certificate.publicKey))
      throw new UsageError(`--root ${path} is signed by another: ${expected}`);
    return { ...key, name: subject };
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    if (cause instanceof FileError) throw new UsageError(`--root ${path}: it ${cause.message}`, { cause });
    throw new UsageError(`--root ${path}: ${expected}`, { cause });
  }
}
