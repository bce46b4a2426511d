import { Command } from "commander";
import { join } from "node:path";
import { formatEther, formatGwei, isHex, type Address, type Hex } from "viem";
import { DEFAULT_GRID_BLOCKS, DEFAULT_REPORT_LIFETIME, MAX_GRID_BLOCKS } from "../../../../ignition/defaults.ts";
import { connect } from "../../../chain/connect.ts";
import { chainSettings, keySettings } from "../../chainSettings.ts";
import { requirePackages } from "../../../base/optionalPackage.ts";
import { UsageError } from "../../errors.ts";
import { addExamples } from "../../globalOptions.ts";
import { loadAccount } from "../../keys.ts";
import type { Output } from "../../output.ts";
import { address, oneOf, type Parse, filePath, seconds, unfit, whole } from "../../parse.ts";
import {
  NETWORK_KINDS,
  parametersOfKind,
  readParameters,
  type NetworkKind,
} from "../../../deploy/network/parameters.ts";
import { checkDevices, checkParameters } from "../../../deploy/network/parameterChecks.ts";
import { checkNetwork } from "../../../deploy/network/networkChecks.ts";
import { verifyDeployment } from "../../../deploy/network/verifyDeployment.ts";
import { writeAddressFile } from "../../../deploy/network/writeAddressFile.ts";
import { addSettings, defaulted, optional, readSettings, required, toggle } from "../../settings.ts";
import { requireFolder } from "../../folders.ts";

/** Ids of manufacturers, with commas between them. */
const manufacturerIds: Parse<Hex[]> = (given, name) =>
  given.split(",").map((part) => {
    const id = part.trim();
    if (isHex(id) && id.length === 66) return id;
    throw unfit(id, name, "ids of manufacturers, 0x and 64 hexadecimal digits, with commas between them");
  });

const { rpcUrl, chainId } = chainSettings;
const settings = {
  networkKind: optional<NetworkKind>(
    "kind",
    `take the parameters of ${NETWORK_KINDS.join(", ")}`,
    oneOf(...NETWORK_KINDS),
  ),
  parameters: optional<string>("file", "a parameter file in place of a kind (JSON5)", filePath),
  asset: required("address", "the stake asset: the network's wrapped native token", address),
  manufacturers: required<Hex[]>("ids", "manufacturers whose devices count, fixed for good", manufacturerIds),
  gridBlocks: defaulted(
    "blocks",
    "the distance of the blocks whose hashes devices sign over",
    whole(1, MAX_GRID_BLOCKS),
    DEFAULT_GRID_BLOCKS,
  ),
  reportLifetime: defaulted("seconds", "how long a device's report holds", seconds(1), DEFAULT_REPORT_LIFETIME),
  verifier: optional<Address>("address", "a step verifier that is there already", address, "one is deployed"),
  folder: defaulted("folder", "where the address file and the journal go", filePath, "deployments"),
  confirmations: defaulted("blocks", "on top of a transaction before the next one", whole(1), 5),
  checkOnly: toggle("check the network, the parameters and the account, and send nothing"),
  rpcUrl,
  chainId,
  ...keySettings,
};

/** `refute deploy`: deploys a market with Ignition. */
export function deployCommand(output: Output): Command {
  const command = new Command("deploy")
    .description("deploy a market for good: checked before, read back after; an interrupted deployment goes on")
    .action(async (_options: unknown, command: Command) => {
      const values = readSettings(command, settings);
      const { asset, manufacturers, verifier, gridBlocks, reportLifetime, folder, confirmations } = values;
      if (!values.checkOnly) {
        requireFolder("--folder", folder);
        requirePackages(["@nomicfoundation/ignition-core"], "refute deploy market");
      }
      const source = parametersPath(values);
      const parameters = readParameters(source);
      const account = await loadAccount(values);
      const publicClient = await connect({ rpcUrls: values.rpcUrl }, values.chainId);
      const network = await checkNetwork({ publicClient, account: account.address, asset, verifier });
      await checkParameters(publicClient, account.address, parameters);
      await checkDevices(publicClient, account.address, values);
      output.note([
        `parameters ${source}`,
        `asset ${asset}: ${network.symbol}, 18 decimals, takes the native token by deposit()`,
        `account ${account.address} holds ${formatEther(network.balance)}; the deployment may take ` +
          `${formatEther(network.cost)} (${network.gas} gas at ${formatGwei(network.gasPrice)} gwei ` +
          `and half as much again)`,
      ]);
      if (values.checkOnly) {
        const { symbol, gas, gasPrice, cost, balance } = network;
        return output.answer(
          { ready: true, account: account.address, symbol, gas, gasPrice, cost, balance, parameters },
          "everything is ready for the deployment; nothing was sent",
        );
      }
      const { deployContracts, firstBlockOf } = await import("../../../deploy/network/deployContracts.ts");
      const journal = join(folder, `${values.chainId}-journal`);
      const plan = { parameters, asset, verifier, manufacturers, gridBlocks, reportLifetime };
      const onSent = (what: string): void => output.note(`sent ${what}`);
      const market = await deployContracts({ publicClient, account, journal, confirmations, onSent }, plan);
      const deployment = await verifyDeployment(publicClient, market, plan);
      const fromBlock = firstBlockOf(journal);
      const addressFile = writeAddressFile(folder, deployment, fromBlock);
      output.answer({ ...deployment, fromBlock, addressFile }, [
        `market ${market} on chain ${values.chainId}`,
        `address file ${addressFile}; keep it, and the journal ${journal}`,
        "",
        "To use it:",
        `  export REFUTE_CHAIN_ID=${values.chainId} REFUTE_MARKET=${market} REFUTE_FROM_BLOCK=${fromBlock}`,
        "",
        "Read back and as asked for: all parameters, asset, manufacturers, the code of each contract. Check yourself:",
        "  1. refute status prints the deployment: compare it with your parameters once more, from another machine",
        "  2. verify the sources on the network's explorer (docs/deploying.md)",
        "  3. have a worker of your own serve a small job before others depend on the deployment",
      ]);
    });
  return addExamples(
    addSettings(command, settings),
    "deploy --network-kind l1 --asset 0x... --rpc-url https://node.example --chain-id 1 --check-only",
    "deploy --parameters my-network.json5 --asset 0x... --keystore key.json",
  );
}

/** @throws UsageError unless a kind or a file is given, and not both */
function parametersPath({
  networkKind,
  parameters,
}: {
  networkKind?: NetworkKind | undefined;
  parameters?: string | undefined;
}) {
  if ((networkKind === undefined) === (parameters === undefined))
    throw new UsageError(`give one of --network-kind (${NETWORK_KINDS.join(", ")}) and --parameters FILE`);
  return parameters ?? parametersOfKind(networkKind!);
}
