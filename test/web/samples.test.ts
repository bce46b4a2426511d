import { expect } from "chai";
import { readFileSync } from "node:fs";
import { irisBytes } from "../../testkit/models/iris.ts";
import { readDigits } from "../../testkit/training/digits.ts";
import { framesOf, type Recorded } from "../../web/landing/recorded.ts";
import { boxOf, centred, SIDE } from "../../web/playground/digit.ts";
import { drawInputs, openModel, outputViews, runExactly, worthChanging } from "../../web/playground/engine.ts";
import { exactly } from "../../web/playground/execute.ts";
import { playDispute } from "../../web/playground/dispute.ts";
import { givenInputs } from "../../web/playground/inputs.ts";
import { codesOf, LETTERS, WINDOW, windowOf } from "../../web/playground/letters.ts";
import { digitFile, irisFile, letterFile, likeliest, sampleNamed, SAMPLES } from "../../web/playground/samples.ts";
import type { InputFile } from "../../web/playground/messages.ts";

const silent = (): void => undefined;
const bytesOf = (name: string): Uint8Array => readFileSync(`web/public/samples/${name}.onnx`);

/** Executes a sample as the page does. */
async function ran(name: string): Promise<(file: InputFile) => Promise<string>> {
  const sample = sampleNamed(name)!;
  const { compiled } = openModel(name, bytesOf(name), {}, silent);
  const how = await exactly(compiled!);
  return async (file) => {
    const given = await givenInputs(compiled!, { [sample.input]: file }, () => Promise.reject(new Error("no picture")));
    const exact = await runExactly(compiled!, how, drawInputs(compiled!, given, 1), silent);
    const [output] = outputViews(exact, undefined);
    return likeliest(
      sample,
      output!.elements.map((element) => element.exact),
    )[0]!.label;
  };
}

describe("web: the samples", () => {
  it("eachOne_isServed_andALieAboutWhatIsWorthChanging_isFound", async () => {
    for (const { name } of SAMPLES) {
      const { compiled, view } = openModel(name, bytesOf(name), {}, silent);
      expect(view.report.served, name).to.equal(true);
      const exact = await runExactly(compiled!, await exactly(compiled!), drawInputs(compiled!, new Map(), 1), silent);
      const { step, elements } = worthChanging(exact);
      const played = await playDispute(exact, { step, element: elements[step]! }, silent);
      expect(played.step, name).to.equal(step);
      expect(played.sum!.count, `${name}: terms`).to.be.at.least(3);
      expect(Number(played.sum!.exact), `${name}: the number`).not.to.equal(0);
    }
  });

  it("flower_isTheOneOfTheExample", async () => {
    expect(bytesOf("iris")).to.deep.equal(Buffer.from(irisBytes()));
    expect(await (await ran("iris"))(irisFile([6.3, 2.9, 5.6, 1.8]))).to.equal("virginica");
    expect(await (await ran("iris"))(irisFile([5.1, 3.5, 1.4, 0.2]))).to.equal("setosa");
  });

  it("digitsThatItHasNotSeen_areKnown", async () => {
    const answer = await ran("digit");
    const some = readDigits().heldOut.slice(0, 100);
    let right = 0;
    for (const { label, pixels } of some) if ((await answer(digitFile([...pixels]))) === String(label)) right++;
    expect(right).to.be.at.least(85);
  });

  it("lettersOfCommonWords_areGuessed", async () => {
    const answer = await ran("letter");
    expect(await answer(letterFile("to the chain and th"))).to.equal("e");
    expect(await answer(letterFile("what a worker computes of th"))).to.equal("e");
    expect(await answer(letterFile("the market of the"))).to.equal("space");
  });

  it("anyText_hasCodesOfTheModel", () => {
    for (const text of ["", "A", "Ünï\u202e<b>1</b>", "x".repeat(99)]) {
      const codes = windowOf(text);
      expect(codes).to.have.length(WINDOW);
      expect(codes.every((code) => code >= 0 && code < LETTERS.length)).to.equal(true);
    }
    expect(codesOf("Ab, c.")).to.deep.equal([1, 2, 0, 3, 27]);
  });
});

describe("web: a drawn digit", () => {
  it("box_isASquareAroundWhatIsDrawn", () => {
    const pixels = new Uint8Array(100);
    expect(boxOf(pixels, 10)).to.equal(undefined);
    for (const at of [23, 33, 43, 53]) pixels[at] = 9;
    expect(boxOf(pixels, 10)).to.deep.equal({ x: 1.5, y: 2, size: 4 });
  });

  it("massLiesInTheMiddle", () => {
    const pixels = new Float32Array(SIDE * SIDE);
    pixels[0] = 1;
    expect(centred(pixels).indexOf(1)).to.equal(14 * SIDE + 14);
    expect(centred(new Float32Array(SIDE * SIDE)).every((value) => value === 0)).to.equal(true);
  });
});

describe("web: the recorded dispute", () => {
  const recorded = JSON.parse(readFileSync("web/landing/recorded.json", "utf8")) as Recorded;
  const frames = framesOf(recorded);

  it("descendsToOneNumber_aTransactionAtATime", () => {
    expect(frames).to.have.length(recorded.gas.length);
    const counts = frames.map(({ rows }) => rows.length);
    expect(counts).to.deep.equal([...counts].sort((a, b) => a - b));
    const last = frames.at(-1)!.rows.at(-1)!;
    expect(last.leaves).to.equal("numbers");
    expect(last.picked).to.deep.equal({ from: recorded.element, to: recorded.element + 1 });
  });

  it("itsNumber_isWhatItsFormulaGives", () => {
    const { formula, exact, claimed } = recorded.sum;
    const factors = formula!.split(" × ").map(Number);
    expect(Math.fround(factors.reduce((a, b) => a * b))).to.equal(Math.fround(Number(exact)));
    expect(claimed).not.to.equal(exact);
  });
});
