import { compiledEnding, executeBoth, hostileModel } from "../../../testkit/fuzz/hostile.ts";
import { hostileAttributes, restructuredModel } from "../../../testkit/fuzz/structure.ts";

/** So many attributes of all operators' experiments are tried at least once. */
const ATTRIBUTES = 1000;

/** So often the number of attributes is printed. */
const REPORTED = 200;

/** A model that takes longer is named: all models' limits are far below. */
const SLOW_SECONDS = 10;

/** The models of a seed: one operator's changed by hand, and a few operators' changed in structure. */
const modelsOf = (seed: number): readonly (() => Uint8Array)[] => [
  () => hostileModel(seed),
  () => restructuredModel(seed),
];

/**
 * Tries hostile models from a seed on, and hostile attributes of each operator: each model must end in a typed
 * refusal, or in a program with the same bits from the definition and the fast executor.
 * @param after Attributes that are left out, and models with them: a campaign that was stopped goes on behind them.
 * @returns whether all did; endings and failures are printed
 */
export async function soakHostile(count: number, firstSeed: number, after: number): Promise<boolean> {
  const endings = new Map<string, number>();
  let passed = true;
  const tryOne = async (what: string, seed: number, make: () => Uint8Array): Promise<void> => {
    const start = performance.now();
    try {
      const { ending, model } = compiledEnding(make());
      const executed = model && (await executeBoth(model, seed));
      const how = executed ? `${ending}, executed` : ending;
      endings.set(how, (endings.get(how) ?? 0) + 1);
    } catch (error) {
      passed = false;
      console.log(`${what}: ${(error as Error).stack}`);
    }
    const seconds = (performance.now() - start) / 1000;
    if (seconds > SLOW_SECONDS) console.log(`${what}: ${seconds.toFixed(1)} seconds`);
  };
  for (let seed = firstSeed; after === 0 && seed < firstSeed + count; seed++)
    for (const [kind, make] of modelsOf(seed).entries()) await tryOne(`seed ${seed}, kind ${kind}`, seed, make);
  const times = Math.ceil(count / ATTRIBUTES);
  let number = 0;
  for (const { what, bytes } of hostileAttributes(times, firstSeed)) {
    if (number % REPORTED === 0) console.log(`seed ${firstSeed}, after ${number} attributes`);
    if (++number > after) await tryOne(what, firstSeed, () => bytes);
  }
  for (const [ending, number] of endings) console.log(`${ending}: ${number}`);
  return passed;
}
