import { compile } from "../../src/compiler/compile.ts";
import { NOISE } from "../../src/compiler/wraps/withNoise.ts";
import { floatsOf, itemOutputs } from "../../src/examine/train/itemOutputs.ts";
import { int64Tensor } from "../../src/model/onnx/tensorData.ts";
import { readModel } from "../../src/model/onnx/readModel.ts";
import { replaceInitializers } from "../../src/model/onnx/replaceInitializers.ts";
import { prepareModel } from "../../src/compiler/wraps/modelSpec.ts";
import { RunInputs } from "../../src/program/trace/runInputs.ts";
import { Prng } from "../random/prng.ts";
import { mixAt, scheduleOf, SHAPE, SIDE, timesOf } from "./diffusion.ts";
import { SIDE as WHOLE, readDigits, type Digit } from "./digits.ts";
import { denoiser, diffusionStep } from "./models.ts";
import { fallingRates, floats, type Training } from "./trainer.ts";

const BATCH = 64;
/** Steps of the diffusion. */
export const STEPS = 60;

/** A digit of half the side, from -1 to 1. */
function halved({ pixels }: Digit): number[] {
  return Array.from({ length: SIDE * SIDE }, (_, k) => {
    const at = 2 * Math.floor(k / SIDE) * WHOLE + 2 * (k % SIDE);
    return (pixels[at]! + pixels[at + 1]! + pixels[at + WHOLE]! + pixels[at + WHOLE + 1]!) / 2 - 1;
  });
}

/** A normal number: Box and Muller. */
function normal(prng: Prng): number {
  const [u, v] = [(prng.uint32() + 0.5) / 2 ** 32, prng.uint32() / 2 ** 32];
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

/**
 * Returns an Adam training for a digit denoiser, with the given number of items: mixtures with noise drawn from a seed.
 */
export function denoiserTraining(items: number): Training {
  const pictures = readDigits().training.map(halved);
  const prng = new Prng(4);
  const { pixels, times } = SHAPE;
  const batch = () => {
    const [x, labels] = [new Float32Array(BATCH * pixels), new Float32Array(BATCH * pixels)];
    const t = new Float32Array(BATCH * times);
    for (let row = 0; row < BATCH; row++) {
      const picture = prng.pick(pictures);
      const time = prng.uint32() / 2 ** 32;
      const mix = mixAt(time);
      t.set(timesOf(time), row * times);
      labels.set(picture, row * pixels);
      picture.forEach((pixel, k) => (x[row * pixels + k] = mix.picture * pixel + mix.noise * normal(prng)));
    }
    return { x: floats(x), t: floats(t), labels: floats(labels) };
  };
  const spec = { loss: "mse", optimiser: "adam" } as const;
  return { onnx: denoiser(SHAPE, BATCH), spec, rates: fallingRates(items, 0.002), batch };
}

/**
 * Makes digits from noise by the denoiser, with the steps as a run.
 * @param seed Another seed gives other digits.
 */
export async function makeDigits(model: Uint8Array, count: number, seed: number): Promise<Float32Array[]> {
  const { pixels } = SHAPE;
  const { initializers } = readModel(model).graph;
  const step = replaceInitializers(diffusionStep(SHAPE, count, scheduleOf(STEPS)), initializers);
  const run = { carried: { latent: "latent_next" }, index: ["step"], lastOutputs: ["latent_next"] };
  const prepared = prepareModel(readModel(step), { bind: {}, uint8: [], noise: { noise: 1 }, run });
  const compiled = compile(prepared.model, { shapes: {}, run: prepared.run });
  const zeros = new Uint8Array(4 * count * pixels);
  const given: Record<string, Uint8Array> = {
    ...{ latent: zeros, noise: zeros, step: new Uint8Array(0) },
    [NOISE.seed]: int64Tensor([seed]).bytes,
  };
  const bytes = compiled.inputs.map(({ name }) => given[name]!);
  const inputs = new RunInputs(compiled.program.inputs, { items: STEPS + 1, firstItem: 0 }, bytes);
  let made: Float32Array = new Float32Array(0);
  for await (const outputOf of itemOutputs(compiled, inputs)) made = floatsOf(outputOf("latent_next"));
  return Array.from({ length: count }, (_, k) => made.slice(k * pixels, (k + 1) * pixels));
}
