import { expect } from "chai";
import { fuzz } from "../../testkit/fuzz/generatedExperiments.ts";
import { FUZZ } from "../../testkit/fuzz/families.ts";

/** Of each family, the same every time; `npm run verify -- soak --operators N` runs others. */
const RUNS = 100;
const SEED = 20_240;

describe("random operators, attributes, shapes and operator sets, against onnxruntime", () => {
  for (const [name, make] of Object.entries(FUZZ))
    it(`${name}_agrees`, async () => {
      const { agreed } = await fuzz(make, RUNS, SEED);
      expect(agreed).to.be.above(RUNS / 3);
    });
});
