import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { subjectOf } from "../../src/circuits/circuitHash.ts";
import { KeyFileError, PowersFileError } from "../../src/circuits/errors.ts";
import { inverse, ORDER, residue, rootOfOne } from "../../src/circuits/field.ts";
import {
  beginKey,
  contribute,
  contributionHashes,
  transcriptFault,
  type Ceremony,
  type Contribution,
} from "../../src/circuits/groth16/ceremony.ts";
import { BASE_ORDER, loadCurve, type Curve, type Point1 } from "../../src/circuits/groth16/curve.ts";
import { contributorFault, keyFault } from "../../src/circuits/groth16/keyCheck.ts";
import { readBegunKey, readKey, writeKey } from "../../src/circuits/groth16/keyFile.ts";
import { Origin, type KeySubject, type ProvingKey, type VerifyingKey } from "../../src/circuits/groth16/keys.ts";
import { powersFault, readPowers, type Powers } from "../../src/circuits/groth16/powers.ts";
import { prove } from "../../src/circuits/groth16/prove.ts";
import { lagrangeBasis, logRows } from "../../src/circuits/groth16/rows.ts";
import { setUpKnown } from "../../src/circuits/groth16/setup.ts";
import { verify } from "../../src/circuits/groth16/verify.ts";
import { witnessOf } from "../../src/circuits/witness.ts";
import {
  AROUND_ONE,
  network,
  networkInput,
  outputsOf,
  SECRETS,
  type Network,
} from "../../testkit/circuits/networks.ts";
import { pointBytes, powersFile, powersSections, type Sections } from "../../testkit/circuits/powersFile.ts";

type G1 = ProvingKey["alpha1"];

describe("ceremonies of keys", function () {
  this.timeout(120_000);
  let curve: Curve;
  let net: Network;
  let log: number;
  let subject: KeySubject;
  let sections: Sections;
  let powers: Powers;
  let begun: ProvingKey;
  let made: { key: ProvingKey; ceremony: Ceremony };
  const folder = mkdtempSync(join(tmpdir(), "refute-ceremony-"));
  after(() => rmSync(folder, { recursive: true }));

  /** The powers that a file with some sections holds. */
  const read = (changed: Sections, rows = log, magic?: string): Powers => {
    const path = join(folder, "powers.ptau");
    writeFileSync(path, powersFile({ ...sections, ...changed }, magic));
    return readPowers(curve, path, rows);
  };
  const faultOf = (key: ProvingKey, ceremony = made.ceremony, of = powers): string | undefined =>
    keyFault(curve, net.circuit.circuit, key, ceremony, of);

  before(async () => {
    curve = await loadCurve();
    net = network([2, 1]);
    const { circuit } = net.circuit;
    log = logRows(circuit);
    subject = subjectOf(net.model.programRoot, net.circuit);
    sections = powersSections(curve, log, SECRETS);
    powers = read({});
    begun = beginKey(curve, circuit, subject, powers);
    const first = contribute(curve, begun, { phase1: powers.hash, contributions: [] }, "Ada");
    made = contribute(curve, first.key, first.ceremony, "Grace");
  });

  it("begunKey_hasThePointsOfTheCircuit_thatSecretsGive", () => {
    const known = setUpKnown(curve, net.circuit.circuit, subject, { ...SECRETS, gamma: 1n, delta: 1n });
    for (const part of ["a", "b1", "c"] as const)
      expect(begun[part].map(curve.coordinates1), part).to.deep.equal(known[part].map(curve.coordinates1));
    expect(begun.b2.map(curve.coordinates2)).to.deep.equal(known.b2.map(curve.coordinates2));
    expect(begun.verifying).to.deep.equal({ ...known.verifying, origin: Origin.ceremony });
    // Without the coefficient that no quotient has, and still multiples of x^n - 1.
    const count = 2 ** log;
    const root = rootOfOne(log + 1);
    const { tau } = SECRETS;
    const power = (base: bigint, exponent: number): bigint =>
      Array.from({ length: exponent }).reduce<bigint>((product) => (product * base) % ORDER, 1n);
    const vanishing = residue(power(tau, count) - 1n);
    const top = (vanishing * power(tau, count - 1)) % ORDER;
    const scalars = lagrangeBasis(log + 1, tau)
      .filter((_, k) => k % 2 === 1)
      .map((value, k) => {
        const weight = inverse((power(power(root, 2 * k + 1), count - 1) * BigInt(2 * count)) % ORDER);
        return residue(value + weight * top);
      });
    expect(begun.h.map(curve.coordinates1)).to.deep.equal(curve.multiples1(scalars).map(curve.coordinates1));
  });

  it("keyWithContributions_isOfTheCircuit_andProves", () => {
    expect(powersFault(curve, powers)).to.equal(undefined);
    expect(faultOf(made.key)).to.equal(undefined);
    const input = networkInput(2, 1);
    const { values, publics } = witnessOf(net.circuit, [input], outputsOf(net.model, [input]), 77n);
    const proof = prove(curve, made.key, net.circuit.circuit, values);
    expect(verify(curve, made.key.verifying, publics, proof)).to.equal(true);
    expect(verify(curve, made.key.verifying, publics.with(0, 78n), proof)).to.equal(false);
    // A larger file of the same numbers gives the same key.
    const larger = powersSections(curve, log + 1, SECRETS);
    const again = beginKey(curve, net.circuit.circuit, subject, read(larger));
    expect(again.h.map(curve.coordinates1)).to.deep.equal(begun.h.map(curve.coordinates1));
    expect(again.verifying).to.deep.equal(begun.verifying);
  });

  it("keyWithAnotherPoint_isNotOfTheCircuit_andTheFaultNamesTheList", () => {
    const swapped = <P extends { isEqual(other: P): boolean }>(points: readonly P[]): P[] => {
      const other = points.findIndex((point) => !point.isEqual(points.at(-1)!));
      return points.with(other, points.at(-1)!).with(-1, points[other]!);
    };
    const doubled = <P extends G1 | ProvingKey["beta2"]>(points: readonly P[], k: number): P[] =>
      points.with(k, curve.add(points[k]!, points[k]!));
    const { key } = made;
    const last = key.a.length - 1;
    const verifying = (changes: Partial<VerifyingKey>): Partial<ProvingKey> => ({
      verifying: { ...key.verifying, ...changes },
    });
    const found = (points: readonly { isZero(): boolean }[]): number => points.findIndex((point) => !point.isZero());
    const lies: [Partial<ProvingKey>, string][] = [
      [{ a: swapped(key.a) }, "the points of the first factors"],
      [{ a: doubled(key.a, found(key.a)) }, "the points of the first factors"],
      [{ b1: swapped(key.b1) }, "the points of the second factors"],
      [{ b1: doubled(key.b1, found(key.b1)) }, "the points of the second factors"],
      [{ b2: swapped(key.b2) }, "the points of the second factors in the second group"],
      [{ b2: doubled(key.b2, found(key.b2)) }, "the points of the second factors in the second group"],
      [{ c: swapped(key.c) }, "the points of private wires"],
      [{ c: doubled(key.c, found(key.c)) }, "the points of private wires"],
      [{ c: begun.c }, "the points of private wires"],
      [{ h: swapped(key.h) }, "the points of rows"],
      [{ h: doubled(key.h, found(key.h)) }, "the points of rows"],
      [{ h: begun.h }, "the points of rows"],
      [{ a: key.a.slice(0, last) }, "other numbers of points"],
      [{ h: [...key.h, key.h[0]!] }, "other numbers of points"],
      [{ log: log + 1 }, "other numbers of points"],
      [verifying({ publics: key.verifying.publics.slice(0, -1) }), "other numbers of points"],
      [verifying({ publics: swapped2(key.verifying.publics) }), "the points of the public values are others"],
      [verifying({ publics: key.verifying.publics.with(1, [1n, 3n]) }), "off the curve"],
      [verifying({ alpha: [1n, 2n] }), "another alpha, beta or gamma"],
      [verifying({ beta: key.verifying.gamma }), "another alpha, beta or gamma"],
      [verifying({ gamma: key.verifying.beta }), "another alpha, beta or gamma"],
      [{ alpha1: key.beta1 }, "another alpha, beta or gamma"],
      [{ beta1: key.alpha1 }, "another alpha, beta or gamma"],
      [{ beta2: key.delta2 }, "another alpha, beta or gamma"],
      [{ delta1: key.alpha1 }, "the key's delta is not"],
      [{ delta2: key.beta2 }, "the points of private wires"],
      [verifying({ delta: key.verifying.beta }), "the key's delta is not"],
      [verifying({ origin: Origin.knownSecrets }), "a machine knew its secrets"],
      [{ b2: key.b2.with(0, curve.onCurve2(pointOutside(curve))!) }, "lies outside the second group"],
    ];
    for (const [k, [lie, why]] of lies.entries()) expect(faultOf({ ...key, ...lie }), `${k}`).to.include(why);
    // The points of another program's circuit with the same shapes.
    const other = network([2, 1], 9);
    const theirs = contribute(
      curve,
      beginKey(curve, other.circuit.circuit, subject, powers),
      { phase1: powers.hash, contributions: [] },
      "Eve",
    );
    expect(faultOf(theirs.key, theirs.ceremony)).to.be.a("string");
    expect(faultOf(begun, { ...made.ceremony, contributions: [] })).to.include("nobody has contributed");
    expect(faultOf(key, { ...made.ceremony, phase1: "00".repeat(64) })).to.include("from other powers");
    expect(faultOf(key, made.ceremony, { ...powers, log: log + 1 })).to.include("from other powers");
  });

  it("contributor_refusesPointsThatHonestFactorsWouldDivideForAForger", () => {
    const empty = { phase1: powers.hash, contributions: [] };
    const first = contribute(curve, begun, empty, "Ada");
    const fault = (key: ProvingKey, ceremony: Ceremony): string | undefined =>
      contributorFault(curve, net.circuit.circuit, key, ceremony, powers);
    expect(fault(begun, empty)).to.equal(undefined);
    expect(fault(first.key, first.ceremony)).to.equal(undefined);
    expect(faultOf(begun, empty)).to.include("nobody has contributed");
    // h[0] follows from the other points of rows: a forger restores it when all have contributed.
    for (const { key, ceremony } of [{ key: begun, ceremony: empty }, first])
      for (const stolen of key.verifying.publics.slice(-2).map((point) => curve.point1(point)!)) {
        const received = readBegunKey(curve, writeKey(curve, { ...key, h: key.h.with(0, stolen) }, [], ceremony)).key;
        expect(fault(received, ceremony)).to.include("the points of rows");
        expect(fault({ ...key, c: key.c.with(0, stolen) }, ceremony)).to.include("the points of private wires");
      }
  });

  const swapped2 = (points: readonly Point1[]): Point1[] => points.with(1, points[2]!).with(2, points[1]!);

  it("transcript_changedInAnyPart_isRefused", () => {
    const { ceremony, key } = made;
    const [first, second] = ceremony.contributions as [Contribution, Contribution];
    const fault = (contributions: Contribution[], of: typeof key = key): string | undefined =>
      transcriptFault(curve, of, { ...ceremony, contributions });
    expect(fault([first, second])).to.equal(undefined);
    const unknown = "proves no knowledge of its factor";
    const lies: [Contribution[], string][] = [
      [[{ ...first, name: "Eve" }, second], unknown],
      [[first, { ...second, name: "Eve" }], unknown],
      [[first, { ...second, response: second.response + 1n }], unknown],
      [[first, { ...second, commitment: first.commitment }], unknown],
      [[first, { ...second, delta1: first.delta1 }], unknown],
      [[{ ...first, response: second.response }, second], unknown],
      [[second, first], unknown],
      [[second], unknown],
      [[first], "the key's delta is not that of the last contribution"],
      [[], "the key's delta is not that of the last contribution"],
      [[first, first], unknown],
      [[first, { ...second, response: second.response + ORDER }], "has a response outside the field"],
      [[first, { ...second, delta1: [0n, 0n] }], "has the factor 0"],
      [[first, { ...second, delta1: [1n, 3n] }], "has points outside the groups"],
      [[first, { ...second, delta2: [1n, 0n, 2n, 0n] }], "has points outside the groups"],
    ];
    for (const [k, [lie, why]] of lies.entries()) expect(fault(lie), `${k}`).to.include(why);
    // The challenge covers all points, so a point of the second group cannot be exchanged afterwards either.
    expect(fault([first, { ...second, delta2: first.delta2 }])).to.include(unknown);
    expect(transcriptFault(curve, key, { ...ceremony, phase1: "00".repeat(64) })).to.include(unknown);
    expect(
      transcriptFault(curve, { ...key, verifying: { ...key.verifying, circuit: subject.program } }, ceremony),
    ).to.include(unknown);
  });

  it("contributorWithTwoFactors_isRefused", () => {
    // An honest proof for delta in the first group, with another factor in the second.
    const liar: Curve = { ...curve, times: (point, scalar) => curve.times(point, isG2(point) ? scalar + 1n : scalar) };
    const { key, ceremony } = contribute(liar, begun, { phase1: powers.hash, contributions: [] }, "Mallory");
    expect(transcriptFault(curve, key, ceremony)).to.include("another factor in the second group");
  });

  const isG2 = (point: object): boolean => point.constructor === begun.beta2.constructor;

  it("hashesOfContributions_coverAllBefore", () => {
    const { ceremony, key } = made;
    const hashes = contributionHashes(curve, key.verifying, ceremony);
    expect(new Set(hashes).size).to.equal(2);
    const earlier = { ...ceremony, contributions: ceremony.contributions.slice(0, 1) };
    expect(contributionHashes(curve, key.verifying, earlier)).to.deep.equal(hashes.slice(0, 1));
    const renamed = { ...ceremony, contributions: [{ ...ceremony.contributions[0]!, name: "Eve" }] };
    expect(contributionHashes(curve, key.verifying, renamed)[0]).to.not.equal(hashes[0]);
  });

  it("keyFile_keepsTheTranscript_andReadersRefuseAKeyWithoutContributions", () => {
    const empty = { phase1: powers.hash, contributions: [] };
    const start = writeKey(curve, begun, [AROUND_ONE], empty);
    expect(() => readKey(curve, start)).to.throw(KeyFileError, /its gamma is its delta.*refute zk contribute/);
    expect(readBegunKey(curve, start).ceremony).to.deep.equal(empty);
    const bytes = writeKey(curve, made.key, [AROUND_ONE], made.ceremony);
    const { key, ceremony } = readKey(curve, bytes);
    expect(ceremony).to.deep.equal(made.ceremony);
    expect(faultOf(key, ceremony)).to.equal(undefined);
    const text = Buffer.from(bytes).toString("latin1");
    const damaged = Buffer.from(text.replace(powers.hash, "x"), "latin1");
    expect(() => readKey(curve, damaged)).to.throw(KeyFileError, "the file holds no proving key");
  });

  it("keyFile_withOtherNumbersOfPoints_isRefused_byReadersAndProvers", () => {
    const text = Buffer.from(writeKey(curve, made.key, [], made.ceremony)).toString("latin1");
    const { a, c, h, log: rows } = { ...made.key, a: made.key.a.length, c: made.key.c.length, h: made.key.h.length };
    const changes: [string, string][] = [
      ...[0, rows - 1, rows + 1, 27, 28, 30].map((lie): [string, string] => [`"log":${rows}`, `"log":${lie}`]),
      [`"a":${a}`, `"a":${a + 1}`],
      [`"b":${a}`, `"b":${a - 1}`],
      [`"c":${c}`, `"c":${c + 1}`],
      [`"h":${h}`, `"h":${h - 1}`],
    ];
    for (const [part, lie] of changes) {
      expect(text).to.include(part);
      const changed = Buffer.from(text.replace(part, lie), "latin1");
      expect(() => readKey(curve, changed), lie).to.throw(KeyFileError, "numbers of points do not fit each other");
    }
    // Of another circuit, and fit in themselves.
    const larger = { ...made.key, log: log + 1, h: [...made.key.h, ...made.key.h] };
    const { key } = readKey(curve, writeKey(curve, larger, [], made.ceremony));
    const input = networkInput(2, 1);
    const { values } = witnessOf(net.circuit, [input], outputsOf(net.model, [input]), 77n);
    expect(() => prove(curve, key, net.circuit.circuit, values)).to.throw(KeyFileError, "other numbers of points");
  });

  it("powers_thatAreNone_areNamed", () => {
    const count = 2 ** log;
    /** The sections with one point replaced by a multiple. */
    const withPoint = (id: number, k: number, words: readonly bigint[]): Sections => {
      const content = Buffer.from(sections[id]!);
      pointBytes([words]).copy(content, k * words.length * 32);
      return { [id]: content };
    };
    const [one, five] = curve.multiples1([1n, 5n]).map(curve.coordinates1) as [Point1, Point1];
    const five2 = curve.coordinates2(curve.multiples2([5n])[0]!);
    const lies: [Sections, string][] = [
      [withPoint(2, 0, five), "do not begin with the generators"],
      [withPoint(3, 0, five2), "do not begin with the generators"],
      [withPoint(3, 1, [0n, 0n, 0n, 0n]), "at infinity"],
      [withPoint(4, 0, [0n, 0n]), "at infinity"],
      [withPoint(6, 0, [0n, 0n, 0n, 0n]), "at infinity"],
      [withPoint(2, 1, five), "of tau in the first group"],
      [withPoint(2, 2 * count - 2, five), "of tau in the first group"],
      [withPoint(2, count, one), "of tau in the first group"],
      [withPoint(3, 1, five2), "of tau in the first group"],
      [withPoint(3, count - 1, five2), "of tau in the second group"],
      [withPoint(4, count - 1, five), "of alpha"],
      [withPoint(5, 3, five), "of beta are no multiples"],
      [withPoint(6, 0, five2), "of beta in both groups differ"],
    ];
    for (const [k, [lie, why]] of lies.entries()) expect(powersFault(curve, read(lie)), `${k}`).to.include(why);
    // On the curve and outside the group: the curve over the extension has more points.
    const outside = pointOutside(curve);
    expect(curve.onCurve2(outside)?.isValidOrder()).to.equal(false);
    expect(powersFault(curve, read(withPoint(6, 0, outside)))).to.include("outside the group");
  });

  it("filesWithoutPowers_areRefused_byName", () => {
    const refused = (changed: Sections, why: string, rows?: number, magic?: string): void => {
      expect(() => read(changed, rows, magic)).to.throw(PowersFileError, why);
    };
    refused({}, "section 1 is missing or short", log, "zkey");
    const header = sections[1]!;
    refused({ 1: Buffer.concat([header.subarray(0, 4), Buffer.alloc(32, 7), header.subarray(36)]) }, "another");
    refused({ 1: header.subarray(0, 40) }, "section 1 is missing or short");
    refused({ 5: sections[5]!.subarray(32) }, "section 5 is missing or short");
    refused({ 4: pointBytes([[1n, 3n]]) }, "section 4 is missing or short");
    refused({ 6: pointBytes([[1n, 0n, 3n, 0n]]) }, "point 0 of section 6 is not on the curve");
    refused({ 2: Buffer.alloc(sections[2]!.length, 255) }, "point 0 of section 2 is not on the curve");
    refused({}, `powers for 2^${log} rows, and the circuit has 2^${log + 1}`, log + 1);
    expect(() => readPowers(curve, join(folder, "none"), log)).to.throw(PowersFileError, /none: the file is missing/);
    writeFileSync(join(folder, "short"), "ptau");
    expect(() => readPowers(curve, join(folder, "short"), log)).to.throw(PowersFileError, "section 1 is missing");
  });
});

/** A point of y^2 = x^3 + 3 / (9 + i) whose order is not the group's. */
function pointOutside(curve: Curve): readonly [bigint, bigint, bigint, bigint] {
  type Pair = readonly [bigint, bigint];
  const reduced = (value: bigint): bigint => ((value % BASE_ORDER) + BASE_ORDER) % BASE_ORDER;
  const times = ([a, b]: Pair, [c, d]: Pair): Pair => [reduced(a * c - b * d), reduced(a * d + b * c)];
  const raised = (base: Pair, exponent: bigint): Pair => {
    let [result, square]: [Pair, Pair] = [[1n, 0n], base];
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if ((rest & 1n) === 1n) result = times(result, square);
      square = times(square, square);
    }
    return result;
  };
  const inverted = ([a, b]: Pair): Pair => {
    const [norm] = raised([reduced(a * a + b * b), 0n], BASE_ORDER - 2n);
    return [reduced(a * norm), reduced(-b * norm)];
  };
  const added = ([a, b]: Pair, [c, d]: Pair): Pair => [reduced(a + c), reduced(b + d)];
  const constant = times([3n, 0n], inverted([9n, 1n]));
  const half = [inverted([2n, 0n])[0], 0n] as const;
  for (let x = 1n; ; x++) {
    const [a, b] = added(raised([x, 0n], 3n), constant);
    // The root of a + bi: u + vi with 2 u^2 = a + sqrt(a^2 + b^2).
    const [norm] = raised([reduced(a * a + b * b), 0n], (BASE_ORDER + 1n) / 4n);
    for (const root of [norm, reduced(-norm)]) {
      const [square] = times([reduced(a + root), 0n], half);
      const [u] = raised([square, 0n], (BASE_ORDER + 1n) / 4n);
      const [v] = times([b, 0n], inverted([reduced(2n * u), 0n]));
      const point = [x, 0n, u, v] as const;
      if (curve.onCurve2(point) !== undefined) return point;
    }
  }
}
