import { keccak256, stringToHex, type Hex } from "viem";
import { nodesOf, postProvable, proofFor, provable, type Provable } from "../../../testkit/circuits/provenJobs.ts";
import type { World } from "../../../testkit/protocol/deployWorld.ts";
import { createWorld, gasOf } from "../../../testkit/protocol/world.ts";

/** Networks by their layers' sizes. */
const NETWORKS = { "8 inputs, 3 outputs": [8, 4, 3], "32 inputs, 1 output": [32, 16, 8, 1] } as const;

/** Measures the gas for ending claims by proofs, about float32 networks. */
export async function provenGas(): Promise<{ transaction: string; gas: number }[]> {
  const world = await createWorld();
  const rows: { transaction: string; gas: number }[] = [];
  for (const [name, sizes] of Object.entries(NETWORKS)) {
    const network = await provable(sizes);
    const note = async (transaction: string, hash: Hex): Promise<void> => {
      rows.push({ transaction: `${transaction}, ${name}`, gas: Number(await gasOf(world, hash)) });
    };
    await measure(world, network, note);
  }
  return rows;
}

async function measure(
  world: World,
  network: Provable,
  note: (transaction: string, hash: Hex) => Promise<void>,
): Promise<void> {
  const { market, worker } = world;
  const { account } = worker;
  const [first, second] = ["first", "second"].map((salt) => ({ salt: keccak256(stringToHex(salt)) }));
  const posted = await postProvable(world, network, {}, first);
  const nodes = nodesOf(network);
  await market.write.claimOnTerms([posted.job, posted.terms], { account });
  await market.write.submitOnTerms([posted.job, posted.terms, nodes], { account });
  const proof = proofFor(network, posted.context);
  await note("finaliseByProof", await market.write.finaliseByProof([posted.claim, posted.terms, proof]));
  const { job, terms, context } = await postProvable(world, network, {}, second);
  const call = [job, terms, nodes, proofFor(network, context)] as const;
  await note("claimAndProve", await market.write.claimAndProve([...call], { account }));
}
