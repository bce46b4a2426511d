import { expect } from "chai";
import { sha256 } from "ethers";
import { describeProgram } from "../../../src/parties/requester/describeProgram.ts";
import { parseDescription, type ProgramDescription } from "../../../src/parties/requester/description.ts";
import { DescriptionError } from "../../../src/parties/requester/errors.ts";
import { loadProgram } from "../../../src/parties/requester/loadProgram.ts";
import { mlpBytes, mlpProgram } from "../../../testkit/models/mlp.ts";
import { rejection } from "../../../testkit/rejection.ts";

describe("descriptions of programs", function () {
  const digits = Array.from({ length: 10 }, (_, k) => String(k));
  const description = describeProgram(mlpProgram(), { y: digits });
  const refusal = (change: object): string => {
    try {
      parseDescription({ ...description, ...change });
    } catch (error) {
      expect(error).to.be.instanceOf(DescriptionError);
      return (error as Error).message;
    }
    throw new Error("it is taken");
  };

  it("description_survivesJson_andNamesTheRootOfItsParts", function () {
    const { header, stepsRoot, checkpointsRoot, programRoot } = description;
    expect(parseDescription(JSON.stringify(description))).to.deep.equal(description);
    expect(programRoot).to.equal(mlpProgram().model.programRoot);
    expect(sha256(`0x00${[header, stepsRoot, checkpointsRoot].map((part) => part.slice(2)).join("")}`)).to.equal(
      programRoot,
    );
    expect(description.inputs).to.deep.equal([{ name: "x", dtype: "float32", shape: [1, 64] }]);
    expect(description.outputs).to.deep.equal([{ name: "y", dtype: "float32", shape: [1, 10], labels: digits }]);
  });

  it("loadProgram_describesWhatTheCompilerMakes_ofAFileOrItsBytes", async function () {
    expect(await loadProgram(mlpBytes(), { labels: { y: digits } })).to.deep.equal(description);
    expect(await rejection(loadProgram("missing.onnx"))).to.have.property("code", "MODEL_FILE");
  });

  it("descriptionOfAnotherProgramThanItsRoot_isRefused", function () {
    const other = describeProgram(mlpProgram(2));
    expect(refusal({ programRoot: other.programRoot })).to.contain("not the root");
    expect(refusal({ stepsRoot: other.stepsRoot })).to.contain("not the root");
    expect(refusal({ header: `${description.header}00` })).to.contain("not the root");
  });

  it("factsThatTheProgramDoesNotHave_areRefusedByTheirField", function () {
    const [input] = description.inputs;
    expect(refusal({ work: "1" })).to.match(/"work": it says 1, the program that its root names has \d+/);
    expect(refusal({ maxStepGas: 1 })).to.contain('"maxStepGas"');
    expect(refusal({ inputs: [] })).to.contain('"inputs": it says 0 tensors');
    expect(refusal({ inputs: [{ ...input, shape: [65] }] })).to.contain('"inputs[0]": it says 65 x float32');
    expect(refusal({ outputs: [{ ...input, dtype: "int32", shape: [10] }] })).to.contain("10 x int32");
  });

  it("documentThatIsNoDescription_isRefusedByItsField", function () {
    const [output] = description.outputs;
    const refusals: [change: object, words: string][] = [
      [{ format: 2 }, 'field "format": expected 1, got 2'],
      [{ header: "0x0" }, 'field "header": expected 0x and an even number of hexadecimal digits, got "0x0"'],
      [{ programRoot: undefined }, 'field "programRoot": expected 0x and 64 hexadecimal digits, got nothing'],
      [{ inputs: {} }, 'field "inputs": expected a list, got an object'],
      [{ inputs: [1] }, "inputs[0]: expected a JSON object, got 1"],
      [{ outputs: [{ ...output, dtype: "limb" }] }, 'outputs[0]: field "dtype": expected an element type'],
      [{ outputs: [{ ...output, dtype: "toString" }] }, 'outputs[0]: field "dtype": expected an element type'],
      [{ outputs: [{ ...output, shape: [0] }] }, 'outputs[0]: field "shape": expected a list of whole numbers above 0'],
      [{ outputs: [{ ...output, labels: ["a"] }] }, 'outputs[0]: field "labels": expected 10 texts'],
    ];
    for (const [change, words] of refusals) expect(refusal(change)).to.contain(words);
    expect(() => parseDescription("{")).to.throw(DescriptionError, "is no JSON document");
    expect(() => parseDescription([])).to.throw(DescriptionError, "expected a JSON object, got a list");
  });

  it("labelsThatFitNoOutput_areRefused", function () {
    expect(() => describeProgram(mlpProgram(), { z: digits })).to.throw(DescriptionError, "outputs are y");
    expect(() => describeProgram(mlpProgram(), { y: ["a"] })).to.throw(DescriptionError, "has 10 positions");
  });

  it("headerOfOtherSemantics_isRefused", function () {
    const header = `0xffff${description.header.slice(6)}` as const;
    const [stepsRoot, checkpointsRoot] = [description.stepsRoot, description.checkpointsRoot];
    const programRoot = sha256(`0x00${[header, stepsRoot, checkpointsRoot].map((part) => part.slice(2)).join("")}`);
    const forged: Partial<ProgramDescription> = { header, programRoot: programRoot as `0x${string}` };
    expect(refusal(forged)).to.contain("semantics version 65535");
  });
});
