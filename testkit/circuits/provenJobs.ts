import { bytesToHex, concatHex, parseEventLogs, zeroHash, type Hex } from "viem";
import { jobMarketAbi } from "../../src/chain/abi/jobMarket.ts";
import { proofContextOf } from "../../src/chain/market/ids.ts";
import type { Claim, ClaimProof, Delivery, Job, JobRequest, Terms } from "../../src/chain/structs.ts";
import { subjectOf } from "../../src/circuits/circuitHash.ts";
import { loadCurve, type Curve } from "../../src/circuits/groth16/curve.ts";
import { keyHash, keyWords, proofWords, type ProvingKey } from "../../src/circuits/groth16/keys.ts";
import { prove } from "../../src/circuits/groth16/prove.ts";
import { setUpKnown } from "../../src/circuits/groth16/setup.ts";
import { witnessOf } from "../../src/circuits/witness.ts";
import { completeTerms } from "../../src/parties/requester/postJob.ts";
import { MerkleList } from "../../src/program/merkle/list.ts";
import { tensorRoot } from "../../src/program/merkle/tensor.ts";
import { commitProgram } from "../../src/program/root.ts";
import type { World } from "../protocol/deployWorld.ts";
import { factsOf, jobId, postJob, usualTerms } from "../protocol/world.ts";
import { network, networkInput, outputsOf, SECRETS, type Network } from "./networks.ts";

/** A network whose outputs for one input can be proven. */
export type Provable = Network & {
  readonly curve: Curve;
  readonly key: ProvingKey;
  readonly keyHash: Hex;
  readonly inputs: readonly Uint8Array[];
  readonly outputs: readonly Uint8Array[];
};

/** Makes a network with a key and an execution. */
export async function provable(sizes: readonly number[], seed = 1): Promise<Provable> {
  const curve = await loadCurve();
  const { model, circuit } = network(sizes, seed);
  const key = setUpKnown(curve, circuit.circuit, subjectOf(model.programRoot, circuit), SECRETS);
  const inputs = [networkInput(sizes[0]!, seed + 2)];
  return { curve, model, circuit, key, keyHash: keyHash(key.verifying), inputs, outputs: outputsOf(model, inputs) };
}

/** A proof in the form of the market, for any context. */
export function proofFor(
  { curve, circuit, key, model, inputs, outputs }: Provable,
  context: bigint,
  words: readonly bigint[] = keyWords(key.verifying),
): ClaimProof {
  const { values } = witnessOf(circuit, inputs, outputs, context);
  return {
    key: words,
    proof: proofWords(prove(curve, key, circuit.circuit, values)),
    program: factsOf(commitProgram(model.program)),
    inputs: inputs.map((bytes) => bytesToHex(bytes)),
    outputs: outputs.map((bytes) => bytesToHex(bytes)),
  };
}

const listOf = (tensors: readonly Uint8Array[]): MerkleList =>
  MerkleList.fromHashes(tensors.map((bytes) => tensorRoot(bytes)));

/** What a worker submits for a network's outputs. */
export const nodesOf = ({ outputs }: Provable): Hex => concatHex(outputs.map((bytes) => tensorRoot(bytes)));

/** The request of a job whose terms name the network's key. */
export async function provableRequest(
  world: World,
  { model, inputs, keyHash: hash }: Provable,
  rare: Partial<Terms> = {},
  changes: Partial<JobRequest> = {},
): Promise<JobRequest> {
  const terms = completeTerms({ collateral: world.parameters.collateral, keyHash: hash, ...rare });
  return {
    ...(await usualTerms(world)),
    program: factsOf(commitProgram(model.program)),
    inputRoots: inputs.map((bytes) => tensorRoot(bytes)),
    inputs: inputs.map((bytes) => bytesToHex(bytes)),
    window: 2_000,
    answer: true,
    terms: [terms],
    salt: zeroHash,
    ...changes,
  };
}

/** A posted job whose terms name the network's key, and an honest claim about it. */
export type ProvableJob = { job: Job; terms: Terms; claim: Claim; context: bigint };

/** Posts such a job. @param by The worker of the claim. */
export async function postProvable(
  world: World,
  of: Provable,
  rare: Partial<Terms> = {},
  changes: Partial<JobRequest> = {},
): Promise<ProvableJob> {
  const request = await provableRequest(world, of, rare, changes);
  const job = await postJob(world, request);
  const terms = request.terms[0]!;
  const worker = world.worker.account.address;
  const claim: Claim = { job, worker, root: listOf(of.outputs).root, collateral: terms.collateral };
  return { job, terms, claim, context: proofContextOf(jobId(world, job), worker, world.chainId, world.market.address) };
}

/** The delivery of an output of a network's claim. */
export const deliveryFor = ({ model, outputs }: Provable, output = 0): Delivery => ({
  program: factsOf(commitProgram(model.program)),
  output,
  data: bytesToHex(outputs[output]!),
  siblings: listOf(outputs).path(output),
});

/** The market's events of a transaction, by name. */
export async function marketEvents({ client }: World, hash: Hex): Promise<string[]> {
  const { logs } = await client.getTransactionReceipt({ hash });
  return parseEventLogs({ abi: jobMarketAbi, logs }).map(({ eventName }) => eventName);
}
