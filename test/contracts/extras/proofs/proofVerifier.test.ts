import { expect } from "chai";
import { network as chains } from "hardhat";
import { bytesToHex, type Hex } from "viem";
import { subjectOf } from "../../../../src/circuits/circuitHash.ts";
import { ORDER } from "../../../../src/circuits/field.ts";
import { BASE_ORDER, loadCurve } from "../../../../src/circuits/groth16/curve.ts";
import {
  flawOf,
  HEAD_WORDS,
  keyHash,
  keyOf,
  keyWords,
  proofWords,
  wordsHash,
  type VerifyingKey,
} from "../../../../src/circuits/groth16/keys.ts";
import { prove } from "../../../../src/circuits/groth16/prove.ts";
import { setUpKnown } from "../../../../src/circuits/groth16/setup.ts";
import { publicValues, witnessOf } from "../../../../src/circuits/witness.ts";
import { DType, dtypeBytes } from "../../../../src/numerics/dtype.ts";
import { network, networkInput, outputsOf, SECRETS } from "../../../../testkit/circuits/networks.ts";
import { refusalOf } from "../../../../testkit/protocol/refusalOf.ts";

const CONTEXT = 2n ** 240n + 5n;
/** Gas of the whole call about eight inputs and three outputs; the base fee of a transaction included. */
const MOST_GAS = 330_000n;

type Words = readonly bigint[];
type Eight = ReturnType<typeof proofWords>;
type Tensor = { data: Hex; dtype: number };

async function createWorld() {
  const curve = await loadCurve();
  const { model, circuit } = network([8, 4, 3]);
  const key = setUpKnown(curve, circuit.circuit, subjectOf(model.programRoot, circuit), SECRETS);
  const inputs = [networkInput(8, 3)];
  const outputs = outputsOf(model, inputs);
  /** A proof, and what it is about. */
  const provenFor = (context: bigint, of = inputs): { proof: Eight; context: bigint; tensors: Tensor[] } => {
    const results = outputsOf(model, of);
    const { values } = witnessOf(circuit, of, results, context);
    const tensors = [...circuit.inputs, ...circuit.outputs].map(({ dtype }, k) => ({
      data: bytesToHex([...of, ...results][k]!),
      dtype,
    }));
    return { proof: proofWords(prove(curve, key, circuit.circuit, values)), context, tensors };
  };
  const { proof, tensors } = provenFor(CONTEXT);
  const { viem } = await chains.create();
  const verifier = await viem.deployContract("ProofVerifier");
  const client = await viem.getPublicClient();
  return { circuit, inputs, outputs, key: key.verifying, provenFor, proof, tensors, verifier, client };
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
  /** What the verifier says to a proof that does not hold: names of the key and the context. */
  const notProven = ({ hash, words = keyWords(world.key), context = CONTEXT }: Call = {}): string =>
    `what was asked is refused: NotProven(${hash ?? wordsHash(words)}, ${context})`;
  const refused = async (call: Call, message?: string): Promise<void> => {
    expect(await outcome(call), message).to.equal(notProven(call));
  };

  it("proofOfAnExecution_isTaken", async () => {
    expect(await outcome()).to.equal("accepted");
  });

  it("publicValues_areThoseOfTheCircuit", async () => {
    const { circuit, inputs, outputs, tensors } = world;
    const values = await world.verifier.read.publicValues([CONTEXT, tensors]);
    expect(values).to.deep.equal(publicValues(circuit, inputs, outputs, CONTEXT));
  });

  it("publicValues_ofTensorsOfAllSizes_packWholeElements_throughAllTensors", async () => {
    const types = [DType.uint8, DType.int64, DType.int16, DType.float32, DType.bool, DType.int64, DType.uint32];
    for (const [k, dtype] of types.entries()) {
      for (const count of [1, 5, 31]) {
        const all = [...types.slice(k), ...types.slice(0, k)].map((each, t) => ({
          dtype: each,
          count: t === 0 ? count : t + 1,
        }));
        const tensors = all.map(({ dtype: each, count: elements }, t) => ({
          dtype: each,
          data: bytesToHex(
            Uint8Array.from({ length: elements * dtypeBytes(each) }, (_, i) => (37 * i + 11 * t + 1) % 256),
          ),
        }));
        const expected: bigint[] = [9n];
        let used = 31;
        for (const { dtype: each, data } of tensors) {
          const size = dtypeBytes(each);
          const bytes = Buffer.from(data.slice(2), "hex");
          for (let at = 0; at < bytes.length; at += size) {
            if (used + size > 31) used = expected.push(0n) * 0;
            const word = [...bytes.subarray(at, at + size)].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
            expected[expected.length - 1]! += word << BigInt(8 * used);
            used += size;
          }
        }
        expect(await world.verifier.read.publicValues([9n, tensors]), `${dtype} ${count}`).to.deep.equal(expected);
      }
    }
  });

  it("contextOfAnother_isRefused", async () => {
    await refused({ context: CONTEXT + 1n });
    // The group takes a value and the value plus the order for one; the contract does not.
    await refused({ context: CONTEXT + ORDER });
    // The least values above the range: what is behind them in the sum is nothing, and the context's own point.
    for (const context of [0n, 1n]) {
      const { proof } = world.provenFor(context);
      expect(await outcome({ context, proof })).to.equal("accepted");
      await refused({ context: ORDER + context, proof });
    }
  });

  it("eachByteOfTheTensorsChanged_isRefused", async () => {
    for (const [t, tensor] of world.tensors.entries()) {
      const data = Buffer.from(tensor.data.slice(2), "hex");
      for (let k = 0; k < data.length; k += 5) {
        const lie = Buffer.from(data);
        lie[k]! ^= 1;
        await refused({ tensors: world.tensors.with(t, { ...tensor, data: bytesToHex(lie) }) });
      }
    }
  });

  it("tensorsOfAnotherLayout_areRefused_thoughTheirValuesAreTheSame", async () => {
    const [first, second] = world.tensors as [Tensor, Tensor];
    const joined = `${first.data}${second.data.slice(2)}` as Hex;
    const split = (at: number): Tensor[] => [
      { ...first, data: joined.slice(0, 2 + 2 * at) as Hex },
      { ...first, data: `0x${joined.slice(2 + 2 * at)}` },
    ];
    const values = await world.verifier.read.publicValues([CONTEXT, world.tensors]);
    // The next tensor's first element passes as the last one's end; bytes of one type pass as bytes of another.
    for (const tensors of [
      split(36),
      split(28),
      [{ ...first, data: joined }],
      [first, { ...second, dtype: DType.int32 }],
      [first, second, { ...first, data: "0x" as const }],
    ]) {
      expect(await world.verifier.read.publicValues([CONTEXT, tensors])).to.deep.equal(values);
      expect(await outcome({ tensors })).to.include("WrongLayout");
    }
    expect(await outcome({ tensors: [first] })).to.include("WrongLayout");
    expect(await outcome({ tensors: [...world.tensors, first] })).to.include("WrongLayout");
    expect(await outcome({ tensors: [{ ...first, data: `${first.data}00` }, second] })).to.include(
      "WrongSize(0, 4, 33)",
    );
    for (const dtype of [0, 8, 14, 0xa0, 255])
      expect(await outcome({ tensors: [first, { ...second, dtype }] })).to.include(`UnknownType(1, ${dtype})`);
    expect(await world.verifier.read.layoutOf([world.tensors])).to.equal(world.key.layout);
  });

  it("eachWordOfTheProofChanged_isRefused", async () => {
    for (const k of world.proof.keys()) {
      const value = world.proof[k]!;
      for (const lie of [0n, value + 1n, BASE_ORDER - value, value + BASE_ORDER, 2n ** 256n - 1n])
        await refused({ proof: world.proof.with(k, lie) }, `word ${k}`);
    }
    await refused({ proof: world.proof.map(() => 0n) });
  });

  it("keyOfAnotherHash_isRefused", async () => {
    const words = keyWords(world.key);
    const hash = keyHash(world.key);
    for (const k of [0, 1, 2, 3, 4, HEAD_WORDS, words.length - 1])
      expect(await outcome({ hash, words: words.with(k, words[k]! + 1n) })).to.include("WrongKey");
  });

  it("keyWithAnotherCircuitsPoints_isRefused", async () => {
    const words = keyWords(world.key);
    await refused({ words: words.with(HEAD_WORDS, 1n).with(HEAD_WORDS + 1, 2n) });
    // Points off the curve, and lists of another length.
    for (const k of [4, HEAD_WORDS + 2, HEAD_WORDS + 4])
      await refused({ words: words.with(k, words[k]! + 1n) }, `${k}`);
    await refused({ words: words.with(HEAD_WORDS, words[HEAD_WORDS]! + BASE_ORDER) });
    await refused({ words: words.slice(0, -2) });
    await refused({ words: [...words, 1n, 2n] });
    await refused({ words: words.slice(0, -1) });
    for (const length of [0, 1, 3, HEAD_WORDS, HEAD_WORDS + 3])
      expect(await outcome({ words: words.slice(0, length) })).to.include(length === 0 ? "KnownSecrets" : "FlawedKey");
  });

  it("keyByWhichAnybodyCouldProveAnything_isRefused_byContractAndFunctionAlike", async () => {
    const { key } = world;
    const none2 = [0n, 0n, 0n, 0n] as const;
    const negated = ([x, xi, y, yi]: VerifyingKey["gamma"]): VerifyingKey["gamma"] => [
      ...([x, xi] as const),
      ...([BASE_ORDER - y, BASE_ORDER - yi] as const),
    ];
    const flawed: Partial<VerifyingKey>[] = [
      ...[{ gamma: key.delta }, { gamma: negated(key.delta) }, { beta: key.gamma }, { beta: negated(key.gamma) }],
      ...[{ beta: key.delta }, { beta: negated(key.delta) }],
      ...[{ alpha: [0n, 0n] as const }, { beta: none2 }, { gamma: none2 }, { delta: none2 }],
      ...[{ publics: key.publics.slice(0, 1) }, { publics: key.publics.with(1, [0n, 0n]) }],
    ];
    for (const [k, change] of flawed.entries()) {
      expect(flawOf({ ...key, ...change }), `${k}`).to.be.a("string");
      expect(await outcome({ words: keyWords({ ...key, ...change }) }), `${k}`).to.include("FlawedKey");
    }
    // A public value without a point of its own is bound to nothing.
    const unbound = { ...key, publics: key.publics.with(2, [0n, 0n] as const) };
    expect(flawOf(unbound)).to.include("its point for public value 1");
    await refused({ words: keyWords(unbound) });
    // Also where the value is 0, and the sum is right without the point.
    const zeros = world.provenFor(CONTEXT, [new Uint8Array(world.inputs[0]!.length)]);
    expect(await outcome(zeros)).to.equal("accepted");
    await refused({ ...zeros, words: keyWords(unbound) });
    expect(flawOf(key)).to.equal(undefined);
    expect(keyOf(keyWords(key))).to.deep.equal(key);
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
