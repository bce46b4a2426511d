import { fuzz } from "../../../testkit/fuzz/generatedExperiments.ts";
import { FUZZ } from "../../../testkit/fuzz/families.ts";

/**
 * Tries random experiments for every operator family against onnxruntime.
 * @returns whether all agreed; disagreements are printed, shrunk
 */
export async function soakOperators(numRuns: number, seed: number): Promise<boolean> {
  let passed = true;
  for (const [name, make] of Object.entries(FUZZ)) {
    try {
      const { agreed, refused, notRun } = await fuzz(make, numRuns, seed);
      console.log(`${name}: ${agreed} agreed`);
      for (const [reason, count] of refused) console.log(`  refused ${count}: ${reason}`);
      for (const [reason, count] of notRun) console.log(`  not run by onnxruntime ${count}: ${reason}`);
    } catch (error) {
      passed = false;
      const { message, cause } = error as Error;
      console.log(`${name}: ${message}${cause instanceof Error ? `\n${cause.message}` : ""}`);
    }
  }
  return passed;
}
