import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mlpBytes } from "../../testkit/models/mlp.ts";
import { loadCurve } from "../../src/circuits/groth16/curve.ts";
import { readBegunKey, writeKey } from "../../src/circuits/groth16/keyFile.ts";
import { networkBytes, SECRETS } from "../../testkit/circuits/networks.ts";
import { powersFile, powersSections } from "../../testkit/circuits/powersFile.ts";
import type { ProofFile } from "../../src/circuits/proofFile.ts";
import { refute } from "./refute.ts";

describe("refute zk", () => {
  let folder: string;
  const file = (name: string, data: Uint8Array): string => {
    const path = join(folder, name);
    writeFileSync(path, data);
    return path;
  };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("check_smallNetwork_saysWhatAProofTakes_exit0", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    const { status, output } = await refute(["zk", "check", path]);
    expect(status).to.equal(0);
    expect(output)
      .to.match(/constraints +\d{4}, in 4096 rows/)
      .and.match(/public values +3: context/)
      .and.match(/h0: 0, or from 2\^-20 on and below 2\^1, of either sign; others have no proof/)
      .and.not.match(/but/);
  });

  it("check_rangeAndBinades_nameTheDomain", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    const { output } = await refute(["zk", "check", path, "--range", "h0=0:255", "--binades", "8", "--json"]);
    const report = JSON.parse(output) as { inputs: string[]; constraints: number };
    expect(report.inputs).to.deep.equal(["h0: 0, or from 2^0 on and below 2^8; others have no proof"]);
    expect(report.constraints).to.be.above(1_000);
  });

  it("check_threeLayers_saysThatRareInputsHaveNoProof", async () => {
    const path = file("deep.onnx", networkBytes([8, 6, 4, 3]));
    const { status, output } = await refute(["zk", "check", path]);
    expect(status).to.equal(0);
    expect(output).to.match(/rare inputs have no proof/);
  });

  it("check_programWithoutACircuit_isRefusedByStep_exit1", async () => {
    const { status, output } = await refute(["zk", "check", file("mlp.onnx", mlpBytes())]);
    expect(status).to.equal(1);
    expect(output).to.match(/no circuit: step \d+ \(Softmax.*circuits do not know exp of float32 yet/);
  });

  it("check_rangeOfNoInput_isRefused", async () => {
    const path = file("network.onnx", networkBytes([8, 6, 3]));
    expect((await refute(["zk", "check", path, "--range", "y=0:1"])).output).to.include("the model has no input y");
    expect((await refute(["zk", "check", path, "--range", "h0=0:0"])).output).to.include("a range of 0 alone");
  });

  describe("with a key", () => {
    let model: string;
    let key: string;
    let input: string;
    const proof = (): string => join(folder, "proof.json");
    const proving = (...others: string[]): Promise<{ status: number; output: string }> =>
      refute(["zk", "prove", model, "--key", key, "--input", `h0=${input}`, "--proof", proof(), ...others]);
    before(async () => {
      model = file("network.onnx", networkBytes([4, 3, 2]));
      key = join(folder, "network.key");
      input = join(folder, "input.json");
      writeFileSync(input, JSON.stringify([[0.5, -0.25, 1, 0]]));
      const { status, output } = await refute(["zk", "setup", model, "--key", key]);
      expect(status).to.equal(0);
      expect(output).to.match(/key hash +0x[0-9a-f]{64}/);
      expect((await proving("--context", "0x1234")).status).to.equal(0);
    });

    it("verify_proofOfTheModel_holds_exit0", async () => {
      const { status, output, stderr } = await refute(["zk", "verify", model, "--proof", proof()]);
      expect(status).to.equal(0);
      expect(output).to.match(/^the proof holds/m);
      expect(stderr).to.include("the key's secrets are known");
    });

    it("verify_eachPartChanged_isRefused_exit1", async () => {
      const read = JSON.parse(readFileSync(proof(), "utf8")) as ProofFile;
      const [first, last] = read.tensors as [ProofFile["tensors"][number], ProofFile["tensors"][number]];
      const lies: [Partial<ProofFile>, string][] = [
        [{ context: "0x1235" }, "the proof does not hold"],
        [{ proof: read.proof.with(0, "0x1") }, "the proof does not hold"],
        [{ tensors: [first, { ...last, data: last.data.replace(/..$/, "00") }] }, "the proof does not hold"],
        [{ tensors: [first] }, "the tensors are not those of the model"],
        [{ tensors: [first, { ...last, data: "0x00" }] }, "the tensors are not those of the model"],
        [{ key: read.key.with(2, "0x1") }, "the key has another hash than the file says"],
        [{ proof: [] }, "the file holds no proof"],
      ];
      for (const [lie, why] of lies) {
        const path = join(folder, "lie.json");
        writeFileSync(path, JSON.stringify({ ...read, ...lie }));
        const { status, output } = await refute(["zk", "verify", model, "--proof", path]);
        expect(status, why).to.not.equal(0);
        expect(output).to.include(why);
      }
    });

    it("verify_anotherModelOrDomain_isRefused", async () => {
      const other = file("other.onnx", networkBytes([4, 3, 2], 9));
      for (const call of [[other], [model, "--binades", "20"]]) {
        const { status, output } = await refute(["zk", "verify", ...call, "--proof", proof()]);
        expect(status).to.equal(1);
        expect(output).to.include("the key is for another circuit");
      }
    });

    it("prove_keyOfAnotherCircuit_orDamaged_isRefused", async () => {
      expect((await proving("--binades", "20")).output).to.include("the key is for another circuit");
      const bytes = readFileSync(key);
      const own = key;
      const damages = [bytes.subarray(0, 99), bytes.subarray(0, -5), Buffer.concat([bytes, bytes]), Buffer.from("x\n")];
      for (const damaged of damages) {
        key = file("damaged.key", damaged);
        expect((await proving()).output).to.include("the file holds no proving key");
      }
      key = own;
    });

    it("ceremony_contributionsMakeAKey_thatAnybodyVerifiesAgainstTheModel", async () => {
      const powers = file("powers.ptau", powersFile(powersSections(await loadCurve(), 11, SECRETS)));
      const at = (name: string): string => join(folder, name);
      const begun = await refute(["zk", "setup", model, "--powers", powers, "--key", at("begun.key"), "--json"]);
      expect(begun.status, begun.output).to.equal(0);
      expect(begun.stderr).to.include("this key proves nothing yet");
      const { phase1 } = JSON.parse(begun.stdout) as { phase1: string };
      const curve = await loadCurve();
      const contributing = (from: string, to: string, name: string, ...others: string[]) => {
        const files = ["--key", at(from), "--powers", powers, "--next", at(to), "--name", name];
        return refute(["zk", "contribute", model, ...files, ...others]);
      };
      const hashes: string[] = [];
      for (const [from, to, name] of [
        ["begun.key", "first.key", "Ada"],
        ["first.key", "made.key", "Grace"],
      ] as const) {
        // A public value's point in the place of a row's: divided by all factors, it would serve a forger.
        const { key: sent, domains, ceremony } = readBegunKey(curve, readFileSync(at(from)));
        const stolen = { ...sent, h: sent.h.with(0, curve.point1(sent.verifying.publics.at(-1)!)!) };
        file("stolen.key", writeKey(curve, stolen, domains, ceremony));
        const refused = await contributing("stolen.key", "no.key", name);
        expect(refused.output).to.include("stolen.key: the points of rows are others");
        expect([refused.status === 0, existsSync(at("no.key"))]).to.deep.equal([false, false]);
        const added = await contributing(from, to, name, "--json");
        hashes.push((JSON.parse(added.stdout) as { contribution: string }).contribution);
      }
      const verifying = (key: string, ...others: string[]) =>
        refute(["zk", "verify", model, "--key", at(key), "--powers", powers, ...others]);
      const verified = JSON.parse((await verifying("made.key", "--json")).stdout) as object;
      const contributions = ["Ada", "Grace"].map((name, k) => ({ name, hash: hashes[k] }));
      expect(verified).to.deep.include({ holds: true, phase1, contributions, knownSecrets: false });
      expect((await verifying("made.key")).stdout).to.match(new RegExp(`contribution 2 +${hashes[1]}, "Grace"`));
      // The made key proves, and nobody is warned of its proof.
      const own = key;
      key = at("made.key");
      expect((await proving()).status).to.equal(0);
      const { status, stderr } = await refute(["zk", "verify", model, "--proof", proof()]);
      expect([status, stderr]).to.deep.equal([0, ""]);
      key = at("begun.key");
      expect((await proving()).output).to.match(
        /begun\.key: anybody could prove anything.*refute zk contribute goes on/,
      );
      key = own;
      // What is no key of a ceremony, or of another model.
      expect((await verifying("begun.key")).output).to.include("anybody could prove anything");
      expect((await verifying("network.key")).output).to.include("the key is not from a ceremony");
      expect((await verifying("made.key", "--binades", "20")).output).to.include("the key is for another circuit");
      const known = await contributing("network.key", "no.key", "Eve");
      expect(known.output).to.include("the key is not from a ceremony");
      const bytes = readFileSync(at("made.key"), "latin1").replace('"Ada"', '"Eve"');
      writeFileSync(at("lie.key"), bytes, "latin1");
      expect((await verifying("lie.key")).output).to.include('contribution 1 ("Eve") proves no knowledge');
      expect((await contributing("lie.key", "no.key", "Eve")).output).to.include('("Eve") proves no knowledge');
      const another = await contributing("made.key", "no.key", "Eve", "--binades", "20");
      expect(another.output).to.include("the key is for another circuit");
      // Other words.
      expect((await refute(["zk", "verify", model])).output).to.include("give --proof FILE, or --key FILE");
      expect((await refute(["zk", "verify", model, "--key", key])).output).to.include("--powers FILE");
      expect((await refute(["zk", "verify", model, "--key", key, "--powers", model])).status).to.not.equal(0);
      const short = file("short.ptau", powersFile(powersSections(await loadCurve(), 2, SECRETS)));
      const small = await refute(["zk", "setup", model, "--powers", short, "--key", at("no.key")]);
      expect(small.output).to.match(/short\.ptau: powers for 2\^2 rows, and the circuit has 2\^\d+/);
    }).timeout(240_000);

    it("prove_inputOutsideTheDomain_isRefused", async () => {
      writeFileSync(input, JSON.stringify([[0.5, 4, 1, 0]]));
      const { status, output } = await proving();
      expect(status).to.not.equal(0);
      expect(output).to.include("element 1 of input h0 lies outside the domain");
    });
  });
});
