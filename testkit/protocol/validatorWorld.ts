import { keccak256, zeroHash, type Hex } from "viem";
import type { Claim } from "../../src/chain/structs.ts";
import type { Actor } from "./deployWorld.ts";
import { createPledgeWorld } from "./pledgeWorld.ts";

/** The first agent, which is the worker's. */
export const AGENT = 0n;

/** A world with ERC-8004's registries, written from its text, and a validator of the pledged claims. */
export async function validatorWorld() {
  const world = await createPledgeWorld();
  const { viem, worker } = world;
  const identities = await viem.deployContract("AgentIdentities");
  const registry = await viem.deployContract("AgentValidations", [identities.address]);
  const validator = await viem.deployContract("RefuteValidator", [registry.address, world.claims.address]);
  await identities.write.register({ account: worker.account });
  return Object.assign(world, { identities, registry, validator });
}
type ValidatorWorld = Awaited<ReturnType<typeof validatorWorld>>;

/** The hash under which an agent asks about a claim. */
export const requestHashOf = async (
  { validator }: ValidatorWorld,
  claim: Claim,
  agent = AGENT,
  salt: Hex = zeroHash,
): Promise<Hex> => keccak256(await validator.read.payloadOf([agent, claim, salt]));

/** Has an agent ask the validator about a claim. */
export async function askValidator(
  world: ValidatorWorld,
  claim: Claim,
  by: Actor = world.worker,
  agent = AGENT,
  salt: Hex = zeroHash,
): Promise<Hex> {
  const hash = await requestHashOf(world, claim, agent, salt);
  await world.registry.write.validationRequest([world.validator.address, agent, "", hash], { account: by.account });
  return hash;
}
