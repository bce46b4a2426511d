import { bitsDisagree } from "../../../testkit/models/bits.ts";
import { CATALOGUE, LARGE } from "../../../testkit/models/catalogue.ts";
import { openVariants } from "../../../testkit/graphs/variants.ts";

/** The maximum number of terms that the definition computes, in about a minute. */
const MAX_WORK = 30_000_000;

/**
 * Every model of the catalogue, the large ones too, on every executor: the same bits on every tensor.
 * @returns whether they are
 */
export async function soakModels(): Promise<boolean> {
  const opened = await openVariants();
  let agree = true;
  for (const one of [...CATALOGUE, ...LARGE]) {
    const { judge, steps, difference } = await bitsDisagree(one, opened.variants, MAX_WORK);
    console.log(
      `${one.name}: ` +
        `${difference ?? `${steps} tensors agree on ${opened.variants.length} executors`}; judged by ${judge}`,
    );
    agree &&= difference === undefined;
  }
  await opened.close();
  return agree;
}
