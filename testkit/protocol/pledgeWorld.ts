import { artifacts } from "hardhat";
import { keccak256, toHex, zeroHash, type Address, type Hex } from "viem";
import { submissionOf } from "../../src/dispute/workerMove.ts";
import {
  PledgeStatus,
  type Claim,
  type ClaimEvidence,
  type SignedClaim,
  type Ticket,
} from "../../src/chain/structs.ts";
import { oddsOf, digestOf, secretHashOf, typedData, type TicketsAt } from "../../src/parties/tickets/typedData.ts";
import { toHex as bytesToHex } from "../../src/program/merkle/hash.ts";
import type { OwnRun } from "../programs/runsOf.ts";
import type { ClaimedRun } from "./runGame.ts";
import { attest } from "./reports.ts";
import { TestDevice } from "./testDevice.ts";
import { createWorld, factsOf, postedJob } from "./world.ts";
import { ETHER, SINK, type Actor, type World } from "./deployWorld.ts";

/**
 * The time limit for putting a signed claim on chain, the same as in deployments, and the delay until a deposit
 * returns, seconds.
 */
export const LIFETIME = 900;
export const DEPOSIT_DELAY = 3_600;
/** The time limit for a contract that puts only test-named claims on chain, seconds. */
export const OTHER_LIFETIME = 1_800;

/**
 * Additional contracts that may put claims on chain, deployed before the claims contract, for the claims contract's
 * address.
 */
type MoreAuthorisers = (base: World, claims: Address) => Promise<{ account: Address; lifetime: number }[]>;

/**
 * Creates a world with a market for pledged claims, with a separate vault and game, and with tickets. The worker has
 * pledged. The requester pays, and has a deposit for the worker.
 */
export async function createPledgeWorld({
  tokenName = "TestToken",
  more,
}: { tokenName?: "TestToken" | "ReentrantToken"; more?: MoreAuthorisers } = {}) {
  const base = await createWorld({}, tokenName);
  const { viem, token, provisioning, checker } = base;
  const deployer = await viem.deployContract("ClaimsDeployer");
  const address = await deployer.read.reserved();
  const parameters = { ...base.parameters, sink: address };
  const delay = BigInt(parameters.withdrawalDelay);
  const vault = await viem.deployContract("StakeVault", [token.address, provisioning.address, delay, address]);
  const game = await viem.deployContract("DisputeGame", [address, checker.address, parameters]);
  const tickets = await viem.deployContract("Tickets", [
    address,
    token.address,
    BigInt(LIFETIME),
    BigInt(DEPOSIT_DELAY),
  ]);
  const { bytecode } = await artifacts.readArtifact("PledgedClaims");
  const authorisers = [
    { account: base.stranger.account.address, lifetime: OTHER_LIFETIME },
    { account: tickets.address, lifetime: LIFETIME },
    ...((await more?.(base, address)) ?? []),
  ];
  await deployer.write.deploy([bytecode as Hex, vault.address, game.address, authorisers, SINK, parameters]);
  const claims = await viem.getContractAt("PledgedClaims", address);
  const market = await viem.getContractAt("JobMarket", address);
  const world = { ...base, parameters, vault, game, market, tickets, claims };
  for (const actor of [world.worker, world.watcher, world.requester, world.mallory]) {
    const { account } = actor;
    await token.write.approve([vault.address, 2n ** 255n], { account });
    await token.write.approve([tickets.address, 2n ** 255n], { account });
    await vault.write.deposit([account.address, 20n * ETHER], { account });
  }
  await attest(base, world.mallory.account.address, new TestDevice(base.rival));
  const { account } = world.worker;
  await vault.write.stake([10n * ETHER], { account });
  await claims.write.pledge({ account });
  const payer = world.requester.account;
  await tickets.write.deposit([payer.address, account.address, 5n * ETHER], { account: payer });
  return world;
}

type PledgeWorld = Awaited<ReturnType<typeof createPledgeWorld>>;

export const ticketsAt = ({ chainId, tickets }: PledgeWorld): TicketsAt => ({ chainId, tickets: tickets.address });

/** The block's time. */
export const timeOf = async ({ networkHelpers }: PledgeWorld): Promise<bigint> =>
  BigInt(await networkHelpers.time.latest());

/** A signed claim about an execution, with all data needed to put the claim on chain and to cash it. */
export type Promised = {
  claim: SignedClaim;
  digest: Hex;
  signature: Hex;
  evidence: ClaimEvidence;
  secret: Hex;
  own: OwnRun;
};

let made = 0;

/** Makes the data that a worker returns with an answer. @param changes Changes to the signed fields. */
export async function promised(
  world: PledgeWorld,
  own: OwnRun,
  changes: Partial<SignedClaim> = {},
  by: Actor = world.worker,
): Promise<Promised> {
  const { run } = own;
  const { inputs, program } = run;
  const number = BigInt(++made);
  const secret = keccak256(toHex(`secret ${number}`));
  const claim: SignedClaim = {
    worker: by.account.address,
    payer: world.requester.account.address,
    programRoot: program.commitment.programRoot,
    inputsRoot: inputs.list.root,
    items: run.items,
    firstItem: inputs.length.firstItem,
    number,
    issued: await timeOf(world),
    root: run.root,
    secretHash: secretHashOf(secret),
    ...changes,
  };
  const signature = await sign(world, "SignedClaim", claim, by);
  return {
    claim,
    digest: digestOf(ticketsAt(world), "SignedClaim", claim),
    signature,
    secret,
    own,
    evidence: evidenceOf(world, own),
  };
}

/** Returns the data that accompany a signed claim on chain, including the inputs' bytes. */
function evidenceOf({ parameters }: PledgeWorld, { run }: OwnRun): ClaimEvidence {
  const { inputs, program } = run;
  return {
    program: factsOf(program.commitment),
    inputRoots: [...inputs.roots],
    inputs: inputs.roots.map((_, k) => bytesToHex(Buffer.concat(inputs.tensors(k)))),
    nodes: submissionOf(run.claimed, parameters.arityBits, run.form),
  };
}

/** Signs as an actor does. */
export function sign<Name extends "SignedClaim" | "Ticket">(
  world: PledgeWorld,
  name: Name,
  message: Name extends "Ticket" ? Ticket : SignedClaim,
  by: Actor,
  at: TicketsAt = ticketsAt(world),
): Promise<Hex> {
  return by.signTypedData({ ...typedData(at, name, message as never), account: by.account });
}

/** A ticket of the payer about a promise: it wins always if nothing else is said. */
export async function ticketFor(
  world: PledgeWorld,
  { digest }: Promised,
  changes: Partial<Ticket> = {},
  by: Actor = world.requester,
): Promise<{ ticket: Ticket; signature: Hex }> {
  const ticket: Ticket = {
    claim: digest,
    face: ETHER,
    odds: 2n ** 256n - 1n,
    expiry: (await timeOf(world)) + BigInt(LIFETIME),
    nonce: zeroHash,
    ...changes,
  };
  return { ticket, signature: await sign(world, "Ticket", ticket, by) };
}

/** Puts a promise on chain. @returns the claim on chain, and its execution, for games */
export async function landed(world: PledgeWorld, promise: Promised, by: Actor = world.requester): Promise<ClaimedRun> {
  const { claim, signature, evidence, own } = promise;
  const hash = await world.tickets.write.submitSigned([claim, signature, evidence], { account: by.account });
  return { worker: own, claim: await claimOf(world, promise, hash), nodes: evidence.nodes };
}

/** The claim that a promise became in a transaction. */
export async function claimOf(world: PledgeWorld, { claim }: Promised, hash: Hex): Promise<Claim> {
  return {
    job: await postedJob(world, hash),
    worker: claim.worker,
    root: claim.root,
    collateral: world.parameters.collateral,
  };
}

/** The status of a worker's pledge. */
export async function pledgeStatus({ claims }: PledgeWorld, worker: Address): Promise<PledgeStatus> {
  return (await claims.read.pledgeOf([worker]))[0] as PledgeStatus;
}

export { oddsOf };
