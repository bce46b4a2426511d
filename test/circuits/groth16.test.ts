import { expect } from "chai";
import { zeroHash } from "viem";
import { Circuit } from "../../src/circuits/circuit.ts";
import { subjectOf } from "../../src/circuits/circuitHash.ts";
import { KeyFileError } from "../../src/circuits/errors.ts";
import { ORDER } from "../../src/circuits/field.ts";
import { BASE_ORDER, loadCurve, type Curve } from "../../src/circuits/groth16/curve.ts";
import { readKey, writeKey } from "../../src/circuits/groth16/keyFile.ts";
import { provingKeyBytes, type Proof, type ProvingKey } from "../../src/circuits/groth16/keys.ts";
import { prove, proveUnchecked } from "../../src/circuits/groth16/prove.ts";
import { setUpKnown } from "../../src/circuits/groth16/setup.ts";
import { verify } from "../../src/circuits/groth16/verify.ts";
import { circuitReport } from "../../src/circuits/report.ts";
import { witnessOf, type Witness } from "../../src/circuits/witness.ts";
import {
  AROUND_ONE,
  network,
  networkInput,
  outputsOf,
  SECRETS,
  type Network,
} from "../../testkit/circuits/networks.ts";

/** For circuits of no program. */
const NO_SUBJECT = { circuit: zeroHash, program: zeroHash, layout: zeroHash };

describe("groth16", () => {
  let curve: Curve;
  let net: Network;
  let key: ProvingKey;
  let witness: Witness;
  let proof: Proof;
  before(async () => {
    curve = await loadCurve();
    net = network([4, 3, 2]);
    const { model, circuit } = net;
    key = setUpKnown(curve, circuit.circuit, subjectOf(model.programRoot, circuit), SECRETS);
    const input = networkInput(4, 1);
    witness = witnessOf(circuit, [input], outputsOf(model, [input]), 77n);
    proof = prove(curve, key, circuit.circuit, witness.values);
  });

  const holds = (publics: readonly bigint[], given: Proof = proof): boolean =>
    verify(curve, key.verifying, publics, given);

  it("proofOfAnExecution_holds", () => {
    expect(holds(witness.publics)).to.equal(true);
  });

  it("keySizeOfTheReport_isThatOfTheKey", () => {
    const { keyBytes, constraints } = circuitReport(net.model, [AROUND_ONE]);
    expect(keyBytes).to.equal(provingKeyBytes(key));
    expect(constraints).to.equal(net.circuit.circuit.constraints.length);
  });

  it("proofsOfOneWitness_differ", () => {
    const other = prove(curve, key, net.circuit.circuit, witness.values);
    expect(other).to.not.deep.equal(proof);
    expect(holds(witness.publics, other)).to.equal(true);
  });

  it("eachPublicValueChanged_theContextToo_isRefused", () => {
    witness.publics.forEach((value, k) => {
      const lie = witness.publics.with(k, value + 1n);
      expect(holds(lie), `public value ${k}`).to.equal(false);
    });
  });

  it("publicValuesOfAnotherNumberOrSize_areRefused", () => {
    expect(holds(witness.publics.slice(1))).to.equal(false);
    expect(holds([...witness.publics, 0n])).to.equal(false);
    expect(holds(witness.publics.with(0, witness.publics[0]! + ORDER))).to.equal(false);
    expect(holds(witness.publics.with(0, witness.publics[0]! - ORDER))).to.equal(false);
  });

  it("pointsThatAreNone_areRefused", () => {
    expect(holds(witness.publics, { ...proof, a: [1n, 3n] })).to.equal(false);
    expect(holds(witness.publics, { ...proof, c: [proof.c[0] + BASE_ORDER, proof.c[1]] })).to.equal(false);
    expect(holds(witness.publics, { ...proof, b: [1n, 0n, 2n, 0n] })).to.equal(false);
    expect(holds(witness.publics, { a: [0n, 0n], b: [0n, 0n, 0n, 0n], c: [0n, 0n] })).to.equal(false);
  });

  it("keyWithAFlaw_isRefusedByVerifierAndReader_withTheFlaw", () => {
    const flawed = { ...key, verifying: { ...key.verifying, gamma: key.verifying.delta } };
    expect(verify(curve, flawed.verifying, witness.publics, proof)).to.equal(false);
    const bytes = (of: ProvingKey): Uint8Array => writeKey(curve, of, [AROUND_ONE]);
    expect(() => readKey(curve, bytes(flawed))).to.throw(KeyFileError, "its gamma is its delta, up to the sign");
    const { key: read, domains } = readKey(curve, bytes(key));
    expect([read.verifying, domains]).to.deep.equal([key.verifying, [AROUND_ONE]]);
  });

  it("valuesThatViolateTheCircuit_haveNoProofThatHolds", () => {
    const { circuit } = net.circuit;
    const values = [...witness.values];
    const last = 1 + circuit.publicCount - 1;
    values[last] = (values[last]! + 1n) % ORDER;
    expect(() => prove(curve, key, circuit, values)).to.throw("values violate the circuit");
    const forged = proveUnchecked(curve, key, circuit, values);
    expect(holds(values.slice(1, last + 1), forged)).to.equal(false);
  });

  it("constraintDropped_aForgedProofHolds", () => {
    // A bit that need be none: the forgery that the one constraint about the bit prevents.
    const circuit = new Circuit(1);
    const bit = circuit.bit(() => 1n);
    circuit.publish(0, bit);
    const lie = circuit.solve([], [], new Map([[2, 5n]]));
    const forged = (from: Circuit): boolean => {
      const keys = setUpKnown(curve, from, NO_SUBJECT, SECRETS);
      return verify(curve, keys.verifying, [5n], proveUnchecked(curve, keys, from, lie));
    };
    expect(forged(circuit)).to.equal(false);
    circuit.constraints.shift();
    expect(forged(circuit)).to.equal(true);
  });
});
