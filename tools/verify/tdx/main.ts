/**
 * Flips each single bit of a real Intel TDX quote, and asks the verifier, or the client before it. Bytes with an
 * accepted flip are printed; the exit status is 1 if such a byte lies outside the meaningless bytes.
 */
import { flipOf, meaninglessRanges, refusalOfFlip } from "../../../testkit/tdx/flips.ts";
import { realQuote, realWorld } from "../../../testkit/tdx/realQuote.ts";
import { readOptions, whole } from "../../options.ts";

const quote = realQuote();
const { from, to } = readOptions({
  from: whole("the first byte whose bits are flipped", 0),
  to: whole("the byte after the last one", quote.length),
});
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
