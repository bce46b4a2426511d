import { expect } from "chai";
import type { SumForm } from "../../../src/compiler/passes/shares/sumSteps.ts";
import { TRAINING } from "../../../src/compiler/wraps/wrapTraining.ts";
import { createExecutor } from "../../../src/executor/createExecutor.ts";
import { executeReference } from "../../../src/executor/reference.ts";
import { readModel } from "../../../src/model/onnx/readModel.ts";
import { floatTensor, int64Tensor } from "../../../src/model/onnx/tensorData.ts";
import type { CompiledModel } from "../../../src/program/compiled.ts";
import { itAtLength } from "../../../testkit/atLength.ts";
import { Prng } from "../../../testkit/random/prng.ts";
import { cutOf, SHARE_CASES } from "../../../testkit/training/randomShares.ts";
import { SharedTraining } from "../../../testkit/training/shares.ts";
import { floats } from "../../../testkit/training/trainer.ts";

type Named = Map<string, Uint8Array>;

const floatsIn = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);

/** What a share sends of its numbers, the numbers that the joining program reads from that, and the feedback. */
type Sent = { sum: Uint8Array; scale: Uint8Array; read: Float32Array; feedback: Float32Array };

/** The sum of sizes, exact in units of 2^-149, then rounded. */
function sumOfSizes(values: Float32Array): number {
  let sum = 0n;
  for (const value of values) sum += BigInt(Math.abs(value) * 2 ** 100 * 2 ** 49);
  return Math.fround(Number(sum) / 2 ** 100 / 2 ** 49);
}

/** Signs, written here in plain JavaScript. */
function signs(values: Float32Array): Sent {
  const scale = Math.fround(sumOfSizes(values) / values.length);
  const sum = new Uint8Array(Math.ceil(values.length / 8));
  values.forEach((value, k) => {
    if (value < 0) sum[k >> 3]! |= 1 << (k & 7);
  });
  const read = values.map((value) => (value < 0 ? -scale : scale));
  return { sum, scale: floats(Float32Array.of(scale)), read, feedback: values.map((value, k) => value - read[k]!) };
}

/** The greatest of each group, written here in plain JavaScript. */
function tops(values: Float32Array, most: number): Sent {
  const size = Math.min(most, values.length);
  const groups = Math.ceil(values.length / size);
  const [kept, places] = [new Float32Array(groups), new Uint8Array(groups)];
  const [read, feedback] = [new Float32Array(values.length), new Float32Array(groups * size)];
  feedback.set(values);
  for (let group = 0; group < groups; group++) {
    const own = values.subarray(group * size, (group + 1) * size);
    const place = own.reduce((best, value, k) => (Math.abs(value) > Math.abs(own[best]!) ? k : best), 0);
    [kept[group], places[group]] = [own[place]!, place];
    read[group * size + place] = own[place]!;
    feedback[group * size + place] = 0;
  }
  return { sum: floats(kept), scale: places, read, feedback };
}

const sentBy = (form: SumForm, values: Float32Array): Sent =>
  form === "signs" ? signs(values) : tops(values, Number(form.slice("top=".length)));

/** A program's outputs by name, by the fast executor; the definition must give the same. */
async function outputsOf(compiled: CompiledModel, given: Named): Promise<Named> {
  const inputs = compiled.inputs.map(({ name }) => given.get(name)!);
  const executor = await createExecutor(compiled, { threads: 1 });
  const [fast, defined] = [(await executor.run(inputs)).tensors, executeReference(compiled, inputs)];
  const { outputs, checkpoints } = compiled.program;
  const made: Named = new Map();
  compiled.outputs.forEach(({ name }, k) => {
    const { step } = checkpoints[outputs[k]!]!;
    expect(Buffer.from(fast[step]!).equals(defined[step]!), name).to.equal(true);
    made.set(name, Uint8Array.from(defined[step]!));
  });
  await executor.close();
  return made;
}

/** Appends bytes under a name. */
const append = (all: Named, name: string, bytes: Uint8Array): unknown =>
  all.set(name, Buffer.concat([all.get(name) ?? new Uint8Array(0), bytes]));

/**
 * Plays steps over shares. Rounded sums of the same shares, compressed here, must be what the shares give, and the
 * joining program for rounded sums, given the numbers read here, must give the same state.
 */
async function compare(kind: keyof typeof SHARE_CASES, form: SumForm, seed: number, steps: number): Promise<void> {
  const prng = new Prng(seed);
  const { onnx, batch, loss, x, labels } = SHARE_CASES[kind](prng);
  const training = new SharedTraining(readModel(onnx), { loss, optimiser: "momentum" });
  const cut = cutOf(prng, batch);
  const shared = { join: cut.length };
  const state: Named = new Map([...training.initial].map(([name, { bytes }]) => [name, bytes]));
  const feedback = cut.map((): Named => new Map());
  state.set(TRAINING.rates, floatTensor([0.25]).bytes);
  for (let step = 0; step < steps; step++) {
    state.set(TRAINING.index, int64Tensor([step]).bytes);
    const sent: Named = new Map();
    const read: Named = new Map();
    let first = 0;
    for (const [share, examples] of cut.entries()) {
      const rows = (all: Uint8Array): Uint8Array =>
        all.slice((first * all.length) / batch, ((first + examples) * all.length) / batch);
      const own = new Map([...state, ["x", rows(x)] as const, [TRAINING.labels, rows(labels)] as const]);
      first += examples;
      const plain = await outputsOf(training.program({ part: examples, sums: "rounded" }), own);
      const part = training.program({ part: examples, sums: form });
      for (const { name, shape } of part.inputs.filter((input) => input.name.startsWith("feedback_")))
        own.set(name, feedback[share]!.get(name) ?? new Uint8Array(4 * shape[0]!));
      const made = await outputsOf(part, own);
      for (const [name, bytes] of plain) {
        const number = name.slice("sum_".length);
        const before = own.get(`feedback_${number}`);
        if (before === undefined) {
          expect(Buffer.from(made.get(name)!).equals(bytes), name).to.equal(true);
          for (const all of [sent, read]) append(all, name, bytes);
          continue;
        }
        const old = floatsIn(before);
        const expected = sentBy(
          form,
          floatsIn(bytes).map((value, k) => value + old[k]!),
        );
        const about = `${kind} ${form} ${seed}, step ${step}, share ${share}, ${name}`;
        expect([...made.get(name)!], about).to.deep.equal([...expected.sum]);
        expect([...made.get(`scale_${number}`)!], about).to.deep.equal([...expected.scale]);
        const after = made.get(`feedback_${number}_next`)!;
        expect([...floatsIn(after)], about).to.deep.equal([...expected.feedback]);
        feedback[share]!.set(`feedback_${number}`, after);
        append(sent, name, expected.sum);
        append(sent, `scale_${number}`, expected.scale);
        append(read, name, floats(expected.read));
      }
    }
    const joined = await outputsOf(training.program({ ...shared, sums: form }), new Map([...state, ...sent]));
    const judged = await outputsOf(training.program({ ...shared, sums: "rounded" }), new Map([...state, ...read]));
    for (const [name, bytes] of judged)
      expect(Buffer.from(joined.get(name)!).equals(bytes), `${kind} ${form} ${seed}: ${name}`).to.equal(true);
    for (const name of training.initial.keys()) state.set(name, joined.get(TRAINING.next(name))!);
  }
}

describe("sums with feedback", () => {
  for (const form of ["signs", "top=3"] as const)
    it(`sharesOfRandomModels_giveWhatPlainJavaScriptGives_${form}`, async () => {
      await compare("dense", form, 1, 3);
    });

  for (const form of ["signs", "top=2", "top=7", "top=256"] as const)
    itAtLength(`manySharesOfRandomModels_giveWhatPlainJavaScriptGives_${form}`, async () => {
      for (const kind of Object.keys(SHARE_CASES) as (keyof typeof SHARE_CASES)[])
        for (let seed = 300; seed < 305; seed++) await compare(kind, form, seed, 3);
    });
});
