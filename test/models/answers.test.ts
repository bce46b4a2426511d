import { expect } from "chai";
import { drawText } from "../../src/deploy/demo/picture.ts";
import { outputTensors } from "../../src/examine/compare/compare.ts";
import { openPlain } from "../../src/native/plain/plainRun.ts";
import { createExecutor } from "../../src/executor/createExecutor.ts";
import type { TensorData } from "../../src/model/onnx/model.ts";
import { floatTensor } from "../../src/model/onnx/tensorData.ts";
import { catalogued, ocrCharacters, ocrInput, VAD_FRAME, vadFrame } from "../../testkit/models/catalogue.ts";
import { compileModel } from "../../testkit/models/compileModel.ts";
import { RATE, speech } from "../../testkit/models/speech.ts";

type Named = ReadonlyMap<string, TensorData>;

/** Runs a model of the catalogue exactly and in plain onnxruntime, on inputs of the same shapes each time. */
async function bothEngines(name: string, shapes: Named) {
  const { file, bound, model } = compileModel(catalogued(name), shapes);
  const executor = await createExecutor(model);
  const plain = await openPlain(file);
  return {
    exact: async (inputs: Named): Promise<Named> => {
      const { tensors } = await executor.run(model.inputs.map((input) => inputs.get(input.name)!.bytes));
      return new Map(outputTensors(model, tensors).map((output) => [output.name, output]));
    },
    plain: (inputs: Named): Promise<Named> => plain.run(new Map([...inputs, ...bound])),
    close: async () => {
      await executor.close();
      await plain.close();
    },
  };
}

const floats = ({ bytes }: TensorData): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
const only = (outputs: Named): TensorData => [...outputs.values()][0]!;

describe("answers of real models, exact", function () {
  this.timeout(120_000);

  /** What the recogniser's classes spell (CTC: repetitions are one, class 0 is none). */
  function spell({ shape, bytes }: TensorData): string {
    const characters = ocrCharacters();
    const [, , classes] = shape as [number, number, number];
    const scores = floats({ dtype: 1, shape, bytes });
    const best = Array.from({ length: scores.length / classes }, (_, t) => {
      const row = scores.subarray(t * classes, (t + 1) * classes);
      return row.indexOf(Math.max(...row));
    });
    return best.map((k, t) => (k === 0 || k === best[t - 1] ? "" : characters[k - 1]!)).join("");
  }

  for (const text of ["REFUTE", "HELLO WORLD", "ANY MODEL"])
    it(`recogniser_reads_${text}`, async () => {
      const width = 8 * Math.ceil(((text.length * 6 + 4) * 3.5) / 8);
      const inputs = new Map([["x", ocrInput(drawText(text, width, 48, 3.5))]]);
      const { exact, plain, close } = await bothEngines("ppocr4_rec", inputs);
      const [own, other] = [spell(only(await exact(inputs))), spell(only(await plain(inputs)))];
      await close();
      expect(own).to.equal(text);
      expect(other).to.equal(text);
    });

  it("detector_findsWhereALineIs", async () => {
    const [width, height, dot] = [224, 96, 3];
    const text = "REFUTE";
    const inputs = new Map([["x", ocrInput(drawText(text, width, height, dot))]]);
    const { exact, plain, close } = await bothEngines("ppocr4_det", inputs);
    /** The box around all that is text with a probability of 0.3 (PaddleOCR's threshold). */
    const box = (output: TensorData): number[] => {
      const found = [...floats(output)].flatMap((p, i) =>
        p > 0.3 ? [[i % width, Math.floor(i / width)] as const] : [],
      );
      const [xs, ys] = [found.map(([x]) => x), found.map(([, y]) => y)];
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    };
    const [own, other] = [box(only(await exact(inputs))), box(only(await plain(inputs)))];
    await close();
    expect(own).to.deep.equal(other);
    const [inked, high] = [(text.length * 6 - 1) * dot, 7 * dot];
    const drawn = [(width - inked) / 2, (height - high) / 2, (width + inked) / 2, (height + high) / 2];
    // The detector shrinks lines by about a third of their height, so that neighbours stay apart.
    own.forEach((edge, k) => expect(Math.abs(edge - drawn[k]!), `edge ${k} of [${own.join()}]`).to.be.below(high / 2));
  });

  for (const name of ["silero_v5", "silero_v6"])
    it(`${name}_tellsSpeechFromSilenceNoiseAndATone`, async () => {
      const samples = 0.6 * RATE;
      const quiet = new Float32Array(samples);
      const sounds: [string, Float32Array, boolean][] = [
        ["speech", speech(0.6), true],
        ["silence", quiet, false],
        ["noise", quiet.map((_, i) => (((Math.imul(i + 1, 2_654_435_761) >>> 8) % 2001) - 1000) / 1e5), false],
        ["tone", quiet.map((_, i) => 0.3 * Math.sin((2 * Math.PI * 440 * i) / RATE)), false],
      ];
      const fresh = floatTensor(new Array<number>(256).fill(0), [2, 1, 128]);
      const shapes = new Map([
        ["input", vadFrame(quiet, 0)],
        ["state", fresh],
      ]);
      const engines = await bothEngines(name, shapes);
      for (const [what, sound, isSpeech] of sounds) {
        const [states, scores] = [
          { exact: fresh, plain: fresh },
          { exact: [] as number[], plain: [] as number[] },
        ];
        for (let k = 0; (k + 1) * VAD_FRAME.samples <= samples; k++)
          for (const engine of ["exact", "plain"] as const) {
            const outputs = await engines[engine](
              new Map([
                ["input", vadFrame(sound, k)],
                ["state", states[engine]],
              ]),
            );
            states[engine] = outputs.get("stateN")!;
            scores[engine].push(floats(outputs.get("output")!)[0]!);
          }
        // A third of a second in, the answer stands; the threshold is the model's usual one.
        const settled = scores.exact.slice(scores.exact.length / 2);
        expect(
          settled.every((p) => p > 0.5 === isSpeech),
          `${what}: ${settled.join()}`,
        ).to.equal(true);
        expect(scores.exact.map((p) => p > 0.5)).to.deep.equal(scores.plain.map((p) => p > 0.5));
      }
      await engines.close();
    });
});
