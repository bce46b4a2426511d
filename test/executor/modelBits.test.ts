import { expect } from "chai";
import { bitsDisagree } from "../../testkit/models/bits.ts";
import { CATALOGUE } from "../../testkit/models/catalogue.ts";
import { openVariants } from "../../testkit/graphs/variants.ts";

/** The maximum number of terms that the definition computes, in some seconds. */
const MAX_WORK = 3_000_000;

describe("bits of real models", function () {
  this.timeout(300_000);
  let opened: Awaited<ReturnType<typeof openVariants>>;

  before(async () => void (opened = await openVariants()));
  after(() => opened.close());

  // The largest one takes a minute: npm run verify -- soak --models.
  for (const one of CATALOGUE.filter(({ name }) => !name.startsWith("imgly"))) {
    it(`${one.name}_everyExecutor_givesTheSameBitsOnEveryTensor`, async () => {
      const { judge, steps, difference } = await bitsDisagree(one, opened.variants, MAX_WORK);
      if (process.env.REFUTE_SHOW) console.log(one.name, steps, judge);
      if (difference !== undefined) expect.fail(`against ${judge}: ${difference}`);
      expect(steps).to.be.above(0);
    });
  }
});
