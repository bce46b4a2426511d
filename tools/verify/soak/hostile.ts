import { compiledEnding, executeBoth, hostileModel } from "../../../testkit/fuzz/hostile.ts";

/** A model that takes longer is named: all models' limits are far below. */
const SLOW_SECONDS = 10;

/**
 * Tries hostile models from a seed on: each model must end in a typed refusal, or in a program with the same bits from
 * the definition and the fast executor.
 * @returns whether all did; endings and failures are printed
 */
export async function soakHostile(count: number, firstSeed: number): Promise<boolean> {
  const endings = new Map<string, number>();
  let passed = true;
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    const start = performance.now();
    try {
      const { ending, model } = compiledEnding(hostileModel(seed));
      const executed = model && (await executeBoth(model, seed));
      const how = executed ? `${ending}, executed` : ending;
      endings.set(how, (endings.get(how) ?? 0) + 1);
    } catch (error) {
      passed = false;
      console.log(`seed ${seed}: ${(error as Error).stack}`);
    }
    const seconds = (performance.now() - start) / 1000;
    if (seconds > SLOW_SECONDS) console.log(`seed ${seed}: ${seconds.toFixed(1)} seconds`);
  }
  for (const [ending, number] of endings) console.log(`${ending}: ${number}`);
  return passed;
}
