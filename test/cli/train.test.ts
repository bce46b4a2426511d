import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { trainableModel, trainingBatch } from "../../testkit/models/trainable.ts";
import { refute } from "./refute.ts";

describe("refute model train", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "refute-"));
    writeFileSync(join(folder, "model.onnx"), trainableModel());
    writeFileSync(join(folder, "rates.json"), "[0.5]");
    for (const name of ["x", "labels"]) mkdirSync(join(folder, name));
    for (let item = 0; item < 3; item++) {
      const { x, labels } = trainingBatch(item);
      writeFileSync(join(folder, "x", `${item}.bin`), floatTensor(x).bytes);
      writeFileSync(join(folder, "labels", `${item}.bin`), int64Tensor(labels).bytes);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  const at = (name: string): string => join(folder, name);
  const given = (): string[] => [
    ...["model", "train", at("model.onnx"), "--loss", "crossEntropy", "--optimiser", "momentum,alpha=0.5"],
    ...["--input", `x=${at("x")}`, "--labels", at("labels"), "--input", `rates=${at("rates.json")}`],
  ];

  it("train_batchesInFolders_givesLossesAndWritesTheModel", async () => {
    const { status, output } = await refute([...given(), "--out", at("trained.onnx"), "--json"]);
    expect(status).to.equal(0);
    const { losses, file } = JSON.parse(output) as { losses: number[]; file: string };
    expect(losses).to.have.length(3);
    expect(file).to.equal(at("trained.onnx"));
    const [before, after] = [readModel(at("model.onnx")), readModel(file)].map(({ graph }) => graph.initializers);
    expect([...after!.keys()]).to.deep.equal([...before!.keys()]);
    for (const [name, { bytes }] of after!) expect(bytes, name).to.not.deep.equal(before!.get(name)!.bytes);
  });

  it("aShareOfAStep_isAProgramOfItsOwn_andOneThatDoesNotFitIsRefused", async () => {
    const compiled = async (share: string) => {
      const flags = ["--loss", "crossEntropy", "--share", share, "--json"];
      return refute(["model", "compile", at("model.onnx"), ...flags]);
    };
    const roots = new Set<string>();
    for (const share of ["part=1", "part=2", "part=2,rounded", "join=2", "join=4"]) {
      const { status, output, stderr } = await compiled(share);
      expect(status, stderr).to.equal(0);
      roots.add((JSON.parse(output) as { programRoot: string }).programRoot);
    }
    expect(roots.size).to.equal(5);
    const large = await compiled("part=5");
    expect(large.status).to.equal(1);
    expect(large.stderr).to.match(/COMPILE_SHARES.*from 1 to the 4 examples/);
    expect((await compiled("half")).status).to.be.greaterThan(0);
  });

  it("train_withoutALoss_orWithAnotherModelsWeight_exit2or1", async () => {
    const without = await refute(["model", "train", at("model.onnx")]);
    expect(without.status).to.equal(2);
    expect(without.stderr).to.match(/--loss/);
    const frozen = await refute([...given(), "--frozen", "w9"]);
    expect(frozen.status).to.equal(1);
    expect(frozen.stderr).to.match(/no weight "w9".*COMPILE_TRAINING/);
    const share = await refute([...given(), "--share", "part=2"]);
    expect(share.status).to.equal(2);
    expect(share.stderr).to.match(/--share/);
  });
});
