import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deploy, DeploymentResultType, type DeploymentResult } from "@nomicfoundation/ignition-core";
import type { Address, Chain, Hex, LocalAccount, PublicClient, Transport } from "viem";
import { examsModule } from "../../../ignition/modules/Exams.ts";
import { marketModule } from "../../../ignition/modules/market.ts";
import { panelModule } from "../../../ignition/modules/Panel.ts";
import { tdxModule } from "../../../ignition/modules/Tdx.ts";
import { ticketsModule } from "../../../ignition/modules/tickets.ts";
import { validatorModule } from "../../../ignition/modules/Validator.ts";
import { wrappedEtherModule } from "../../../ignition/modules/WrappedEther.ts";
import { RefuteError } from "../../base/errors.ts";
import type { Parameters as MarketParameters } from "../../chain/structs.ts";
import type { Deployment } from "../../chain/market/deployment.ts";
import { artifactResolver, contractArtifact, type ContractName } from "../../chain/market/artifacts.ts";
import { DeployFailedError } from "./errors.ts";
import { signingProvider } from "./signingProvider.ts";
import { forgetUnsent } from "./unsent.ts";
import type { ExamPlan } from "./examClasses.ts";

/** Where and by whom is deployed. */
export type Deployer = {
  publicClient: PublicClient<Transport, Chain>;
  account: LocalAccount;
  /** Folder for Ignition's journal, from which an interrupted deployment continues; no journal by default. */
  journal?: string;
  /** Blocks to wait on top of a transaction's own block before sending a dependent transaction; default 5. */
  confirmations?: number;
  /** How often is looked for a block, milliseconds. */
  pollingMs?: number;
  /** Called with a description of each transaction before sending. */
  onSent?: (what: string) => void;
};

/** The plan for a market's deployment. */
export type MarketPlan = {
  parameters: MarketParameters;
  /** The stake asset. */
  asset: Address;
  /** A step verifier that is there already; without it, one is deployed. */
  verifier?: Address | undefined;
  /** Ids of the manufacturers whose devices count, permanently: 1 to 32. */
  manufacturers: readonly Hex[];
  /** The distance between blocks whose hashes enter the nonces of reports, in blocks; default: the module's value. */
  gridBlocks?: number | undefined;
  /** How long a report holds, seconds; the module's default if left out. */
  reportLifetime?: number | undefined;
};

/** Deploys a token that wraps ether, for local chains. @throws DeployFailedError */
export async function deployWrappedEther(deployer: Deployer): Promise<Address> {
  return (await run(deployer, wrappedEtherModule, "WrappedEther", {}))("WrappedEther");
}

/**
 * Deploys a market, and a step verifier if none is given.
 * @returns The market's address: everything else is read from it.
 * @throws DeployFailedError that says how to go on
 */
export async function deployContracts(deployer: Deployer, plan: MarketPlan): Promise<Address> {
  const { parameters, asset, verifier, manufacturers, gridBlocks, reportLifetime } = plan;
  const Refute = {
    ...parameters,
    asset,
    manufacturers: [...manufacturers],
    ...(verifier === undefined ? {} : { verifier }),
    ...(gridBlocks === undefined ? {} : { gridBlocks }),
    ...(reportLifetime === undefined ? {} : { reportLifetime }),
  };
  const ignitionModule = marketModule(contractArtifact("JobMarket").bytecode, verifier === undefined);
  return (await run(deployer, ignitionModule, "JobMarket", { Refute }))("JobMarket");
}

/** Contracts of signed claims and tickets; `examClaims` where exams can be challenged. */
type TicketContracts = { tickets: Address; claims: Address; examClaims?: Address };

/**
 * Deploys pledged claims and tickets next to a market, with the market's parameters.
 * @param plan `exams`: the exams whose wrong roots can be challenged.
 * @throws DeployFailedError that explains how to continue
 */
export async function deployTickets(
  deployer: Deployer,
  plan: { deployment: Deployment; exams?: Address | undefined },
): Promise<TicketContracts> {
  const { deployment, exams } = plan;
  const { parameters, asset, provisioning, checker } = deployment;
  const Tickets = { ...parameters, asset, provisioning, checker, ...(exams !== undefined && { exams }) };
  const ignitionModule = ticketsModule(contractArtifact("PledgedClaims").bytecode, exams !== undefined);
  const addressOf = await run(deployer, ignitionModule, "Tickets", { Tickets });
  return {
    tickets: addressOf("Tickets"),
    claims: addressOf("PledgedClaims"),
    ...(exams !== undefined && { examClaims: addressOf("ExamClaims") }),
  };
}

/**
 * Deploys exams.
 * @param provisioning The registry of the exams' devices.
 * @returns The address of the exams. @throws DeployFailedError that explains how to continue
 */
export async function deployExams(
  deployer: Deployer,
  provisioning: Address,
  { classes, odds, spacing }: ExamPlan,
): Promise<Address> {
  const examClasses = classes.map(({ programRoot, blocks }) => ({ programRoot, blocks }));
  return (await run(deployer, examsModule, "Exams", { Exams: { provisioning, classes: examClasses, odds, spacing } }))(
    "Exams",
  );
}

/**
 * Deploys a contract of panels.
 * @param market Whose jobs the seats are.
 * @returns Its address. @throws DeployFailedError that says how to go on
 */
export const deployPanel = async (deployer: Deployer, market: Address): Promise<Address> =>
  (await run(deployer, panelModule, "Panel", { Panel: { market } }))("Panel");

/**
 * Deploys a validator for ERC-8004.
 * @param plan The validation registry, and the contract whose claims count: a job market or pledged claims.
 * @returns Its address. @throws DeployFailedError that says how to go on
 */
export const deployValidator = async (
  deployer: Deployer,
  plan: { registry: Address; claims: Address },
): Promise<Address> =>
  (await run(deployer, validatorModule, "RefuteValidator", { Validator: plan }))("RefuteValidator");

/** A root of certificates: the root's P-256 key as coordinates, and keccak256 over the root's name in DER. */
export type TdxRoot = { x: Hex; y: Hex; name: Hex };

/**
 * Deploys a verifier of quotes of Intel TDX.
 * @param plan `root`: default Intel's root. `grace`: seconds for which a lower number on Intel's documents still
 *   counts, starting when a higher number first arrives; default: the module's value.
 * @returns The verifier's address. @throws DeployFailedError that explains how to continue
 */
export async function deployTdx(
  deployer: Deployer,
  { root, grace }: { root?: TdxRoot | undefined; grace?: number | undefined },
): Promise<Address> {
  const Tdx = { ...(root !== undefined && { root }), ...(grace !== undefined && { grace }) };
  return (await run(deployer, tdxModule, "TdxQuoteVerifier", { Tdx }))("TdxQuoteVerifier");
}

type IgnitionOptions = Parameters<typeof deploy>[0];

/** @param what For the notes. @returns The addresses of contracts by their names */
async function run(
  { publicClient, account, journal, confirmations, pollingMs, onSent }: Deployer,
  ignitionModule: IgnitionOptions["ignitionModule"],
  what: ContractName,
  deploymentParameters: IgnitionOptions["deploymentParameters"],
): Promise<(name: ContractName) => Address> {
  let sent = 0;
  const provider = signingProvider(publicClient, account, publicClient.chain.id, () =>
    onSent?.(`transaction ${++sent} for ${what}`),
  );
  const config = {
    ...(confirmations === undefined ? {} : { requiredConfirmations: confirmations }),
    ...(pollingMs === undefined ? {} : { blockPollingInterval: pollingMs, retryInterval: pollingMs }),
  };
  const common = { artifactResolver, provider, ignitionModule, deploymentParameters, accounts: [account.address] };
  const options = { ...common, config, ...(journal === undefined ? {} : { deploymentDir: journal }) };
  if (journal !== undefined) await forgetUnsent(journal, publicClient, account.address);
  const result = await ignite(options, journal);
  if (result.type !== DeploymentResultType.SUCCESSFUL_DEPLOYMENT)
    throw new DeployFailedError(`the deployment stopped: ${failures(result)}. ${resume(journal, canGoOn(result))}`);
  const contracts = Object.values(result.contracts);
  return (name) => contracts.find(({ contractName }) => contractName === name)!.address as Address;
}

/** @throws DeployFailedError */
async function ignite(options: IgnitionOptions, journal: string | undefined): Promise<DeploymentResult> {
  try {
    return await deploy(options);
  } catch (cause) {
    if (cause instanceof RefuteError) throw cause;
    throw new DeployFailedError(`the deployment stopped: ${firstLine(cause)}. ${resume(journal)}`, { cause });
  }
}

function resume(journal: string | undefined, canGoOn = true): string {
  if (journal === undefined) return "Start again";
  if (canGoOn) return `The same command goes on from ${journal}`;
  return `The journal ${journal} cannot go on like this: give what it began with, or start anew with another --folder`;
}

/**
 * Returns true if the same journal can continue. A failure in a journal stays a failure, and finished deployments keep
 * their parameters.
 */
const canGoOn = (result: Failure): boolean =>
  result.type === DeploymentResultType.EXECUTION_ERROR && result.failed.length === 0 && result.timedOut.length === 0;

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n", 1)[0]!;

type Failure = Exclude<DeploymentResult, { type: DeploymentResultType.SUCCESSFUL_DEPLOYMENT }>;

function failures(result: Failure): string {
  if (result.type !== DeploymentResultType.EXECUTION_ERROR)
    return Object.entries(result.errors)
      .map(([future, errors]) => `${future}: ${errors.join(", ")}`)
      .join("; ");
  const late = result.timedOut.map(({ futureId }) => `${futureId} is not mined in time`);
  const failed = result.failed.map(({ futureId, error }) => `${futureId}: ${error}`);
  const reasons = [...failed, ...late].join("; ");
  return reasons === "" ? `${result.started.join(", ")} did not go on` : reasons;
}

/** Returns the block of a journal's first transaction: no event of the deployment is older. */
export function firstBlockOf(journal: string): bigint {
  const blocks = readFileSync(join(journal, "journal.jsonl"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const block = /"blockNumber":\s*(\d+)/.exec(line)?.[1];
      return block === undefined ? [] : [BigInt(block)];
    });
  return blocks.reduce((a, b) => (a < b ? a : b));
}
