import { expect } from "chai";
import { network as chains } from "hardhat";
import { bytesToHex, type Hex } from "viem";
import { circuitHash } from "../../../../src/circuits/circuitHash.ts";
import { ORDER } from "../../../../src/circuits/field.ts";
import { BASE_ORDER, loadCurve } from "../../../../src/circuits/groth16/curve.ts";
import { keyHash, keyWords, proofWords, wordsHash, type VerifyingKey } from "../../../../src/circuits/groth16/keys.ts";
import { prove } from "../../../../src/circuits/groth16/prove.ts";
import { setUpKnown } from "../../../../src/circuits/groth16/setup.ts";
import { publicValues, witnessOf } from "../../../../src/circuits/witness.ts";
import { dtypeBytes } from "../../../../src/numerics/dtype.ts";
import { network, networkInput, outputsOf, SECRETS } from "../../../../testkit/circuits/networks.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";

const CONTEXT = 2n ** 240n + 5n;
/** Gas of the whole call about eight inputs and three outputs; the base fee of a transaction included. */
const MOST_GAS = 330_000n;

type Words = readonly bigint[];
type Eight = ReturnType<typeof proofWords>;
type Tensor = { data: Hex; elementBytes: number };

async function createWorld() {
  const curve = await loadCurve();
  const { model, circuit } = network([8, 4, 3]);
  const key = setUpKnown(curve, circuit.circuit, circuitHash(model.programRoot, circuit), SECRETS);
  const inputs = [networkInput(8, 3)];
  const outputs = outputsOf(model, inputs);
  const witness = witnessOf(circuit, inputs, outputs, CONTEXT);
  const proof = proofWords(prove(curve, key, circuit.circuit, witness.values));
  const tensors: Tensor[] = [...circuit.inputs, ...circuit.outputs].map(({ dtype }, k) => ({
    data: bytesToHex([...inputs, ...outputs][k]!),
    elementBytes: dtypeBytes(dtype),
  }));
  const { viem } = await chains.create();
  const verifier = await viem.deployContract("ProofVerifier");
  const client = await viem.getPublicClient();
  return { circuit, inputs, outputs, key: key.verifying, proof, tensors, verifier, client };
}

describe("ProofVerifier", () => {
  let world: Awaited<ReturnType<typeof createWorld>>;
  before(async () => {
    world = await createWorld();
  });

  type Call = { hash?: Hex; words?: Words; proof?: Words; context?: bigint; tensors?: readonly Tensor[] };
  const outcome = (call: Call = {}): Promise<string> => {
    const words = call.words ?? keyWords(world.key);
    const hash = call.hash ?? wordsHash(words);
    const proof = (call.proof ?? world.proof) as Eight;
    return refusalOf(
      world.verifier.read.requireProof([hash, words, proof, call.context ?? CONTEXT, call.tensors ?? world.tensors]),
    );
  };
  const NOT_PROVEN = "what was asked is refused: NotProven()";

  it("proofOfAnExecution_isTaken", async () => {
    expect(await outcome()).to.equal("accepted");
  });

  it("publicValues_areThoseOfTheCircuit", async () => {
    const { circuit, inputs, outputs, tensors } = world;
    const values = await world.verifier.read.publicValues([CONTEXT, tensors]);
    expect(values).to.deep.equal(publicValues(circuit, inputs, outputs, CONTEXT));
  });

  it("publicValues_ofAllSizes_packWholeElements", async () => {
    for (const elementBytes of [1, 2, 4, 8]) {
      const group = Math.floor(31 / elementBytes) * elementBytes;
      const data = Uint8Array.from({ length: 72 }, (_, k) => (k * 37 + 11) % 256);
      const values = await world.verifier.read.publicValues([9n, [{ data: bytesToHex(data), elementBytes }]]);
      const expected = Array.from({ length: Math.ceil(72 / group) }, (_, g) =>
        data.slice(g * group, (g + 1) * group).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n),
      );
      expect(values).to.deep.equal([9n, ...expected]);
    }
  });

  it("contextOfAnother_isRefused", async () => {
    expect(await outcome({ context: CONTEXT + 1n })).to.equal(NOT_PROVEN);
    // The group takes a value and the value plus the order for one; the contract does not.
    expect(await outcome({ context: CONTEXT + ORDER })).to.equal(NOT_PROVEN);
  });

  it("eachByteOfTheTensorsChanged_isRefused", async () => {
    for (const [t, tensor] of world.tensors.entries()) {
      const data = Buffer.from(tensor.data.slice(2), "hex");
      for (let k = 0; k < data.length; k += 5) {
        const lie = Buffer.from(data);
        lie[k]! ^= 1;
        expect(await outcome({ tensors: world.tensors.with(t, { ...tensor, data: bytesToHex(lie) }) })).to.equal(
          NOT_PROVEN,
        );
      }
    }
  });

  it("tensorsOfOtherLengthsAndSizes_areRefused", async () => {
    const [first, ...rest] = world.tensors as [Tensor, ...Tensor[]];
    expect(await outcome({ tensors: rest })).to.equal(NOT_PROVEN);
    expect(await outcome({ tensors: [...world.tensors, first] })).to.equal(NOT_PROVEN);
    expect(await outcome({ tensors: [{ ...first, data: `${first.data}00` }, ...rest] })).to.include(
      "WrongSize(0, 4, 33)",
    );
    expect(await outcome({ tensors: [{ ...first, elementBytes: 0 }, ...rest] })).to.include("WrongSize(0, 0, 32)");
    expect(await outcome({ tensors: [{ ...first, elementBytes: 32 }, ...rest] })).to.include("WrongSize(0, 32, 32)");
  });

  it("eachWordOfTheProofChanged_isRefused", async () => {
    for (const k of world.proof.keys()) {
      const value = world.proof[k]!;
      for (const lie of [0n, value + 1n, BASE_ORDER - value, value + BASE_ORDER, 2n ** 256n - 1n])
        expect(await outcome({ proof: world.proof.with(k, lie) }), `word ${k}`).to.equal(NOT_PROVEN);
    }
    expect(await outcome({ proof: world.proof.map(() => 0n) })).to.equal(NOT_PROVEN);
  });

  it("keyOfAnotherHash_isRefused", async () => {
    const words = keyWords(world.key);
    const hash = keyHash(world.key);
    for (const k of [0, 1, 2, 16, words.length - 1])
      expect(await outcome({ hash, words: words.with(k, words[k]! + 1n) })).to.include("WrongKey");
  });

  it("keyWithAnotherCircuitsPoints_isRefused", async () => {
    const words = keyWords(world.key);
    expect(await outcome({ words: words.with(16, 1n).with(17, 2n) })).to.equal(NOT_PROVEN);
    // Points off the curve, and lists of another length.
    expect(await outcome({ words: words.with(18, words[18]! + 1n) })).to.equal(NOT_PROVEN);
    expect(await outcome({ words: words.with(2, words[2]! + 1n) })).to.equal(NOT_PROVEN);
    expect(await outcome({ words: words.with(16, words[16]! + BASE_ORDER) })).to.equal(NOT_PROVEN);
    expect(await outcome({ words: words.slice(0, -2) })).to.equal(NOT_PROVEN);
    expect(await outcome({ words: words.slice(0, 3) })).to.equal(NOT_PROVEN);
  });

  it("keyWithoutAnOrigin_isRefused", async () => {
    expect(await outcome({ words: keyWords(world.key).with(0, 0n) })).to.include("KnownSecrets(31337)");
    expect(await outcome({ words: keyWords(world.key).with(0, 3n) })).to.include("KnownSecrets(31337)");
  });

  it("keyWithKnownSecrets_onAnotherChain_isRefused", async () => {
    const { viem } = await chains.create({ override: { chainId: 1_000 } });
    const verifier = await viem.deployContract("ProofVerifier");
    const call = (key: VerifyingKey): Promise<string> =>
      refusalOf(verifier.read.requireProof([keyHash(key), keyWords(key), world.proof, CONTEXT, world.tensors]));
    expect(await call(world.key)).to.include("KnownSecrets(1000)");
    expect(await call({ ...world.key, origin: 2 })).to.equal("accepted");
  });

  it("wholeCall_costsLittle", async () => {
    const words = keyWords(world.key);
    const gas = await world.client.estimateContractGas({
      address: world.verifier.address,
      abi: world.verifier.abi,
      functionName: "requireProof",
      args: [keyHash(world.key), words, world.proof, CONTEXT, world.tensors],
    });
    console.log(`      ${gas} gas, ${world.circuit.circuit.publicCount} public values`);
    expect(gas < MOST_GAS).to.equal(true);
  });
});
