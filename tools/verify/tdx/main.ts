/**
 * `npm run tdx`: flips each single bit of a real quote of Intel TDX and asks the verifier, or the client before it. The
 * bytes of which a flip is taken are printed; the exit status is 1 if one lies outside those that mean nothing.
 * `--from BYTE` and `--to BYTE` take a part.
 */
import { parseArgs } from "node:util";
import { flipOf, meaninglessRanges, refusalOfFlip } from "../../../testkit/tdx/flips.ts";
import { realQuote, realWorld } from "../../../testkit/tdx/realQuote.ts";

const { values } = parseArgs({ options: { from: { type: "string" }, to: { type: "string" } } });
const quote = realQuote();
const [from, to] = [Number(values.from ?? 0), Number(values.to ?? quote.length)];
const ranges = meaninglessRanges(quote);
const world = await realWorld();
const taken = new Set<number>();
const counts = { flips: 0, refused: 0, taken: 0, wrong: 0 };
for (let bit = from * 8; bit < to * 8; ++bit) {
  const byte = bit >> 3;
  const refusal = await refusalOfFlip(world, flipOf(quote, bit));
  ++counts.flips;
  if (refusal !== undefined) {
    ++counts.refused;
    continue;
  }
  ++counts.taken;
  taken.add(byte);
  if (!ranges.some((range) => range.from <= byte && byte < range.to)) {
    ++counts.wrong;
    console.log(`bit ${bit & 7} of byte ${byte} is taken`);
  }
}
console.log(`${counts.flips} flips: ${counts.refused} refused, ${counts.taken} taken`);
for (const range of ranges) console.log(`bytes ${range.from} to ${range.to - 1} mean nothing: the authorities' own`);
process.exit(counts.wrong === 0 ? 0 : 1);
