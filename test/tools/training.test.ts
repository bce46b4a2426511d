import { expect } from "chai";
import { svgOf } from "../../tools/measure/chart.ts";
import { readDigits } from "../../tools/measure/training/digits.ts";
import { trainDigits } from "../../tools/measure/training/digitsExample.ts";
import { lossChart } from "../../tools/measure/training/lossChart.ts";

describe("the examples of training", () => {
  it("digits_areOfTenClasses_andHeldOutOnesApart", () => {
    const { training, heldOut } = readDigits(1_024);
    expect([training.length, heldOut.length]).to.deep.equal([8_976, 1_024]);
    for (const some of [training, heldOut]) expect(new Set(some.map(({ label }) => label)).size).to.equal(10);
    const seen = new Set(training.map(({ pixels }) => pixels.join()));
    expect(heldOut.filter(({ pixels }) => seen.has(pixels.join()))).to.have.length(0);
  });

  it("classifierOfDigits_afterTwentyItems_isRightAboutMoreThanHalf", async () => {
    const { losses, held, right } = await trainDigits(20);
    expect(losses).to.have.length(20);
    expect(losses.at(-1)).to.be.below(losses[0]! / 2);
    expect(right).to.be.above(held / 2);
  });

  it("lossChart_hasTheLossesAndALineForEachOther", () => {
    const svg = svgOf(lossChart("a title", [2, 1, 0.5], [0, 1, 2], { "a trigram model": 0.25 }));
    expect(svg.match(/stroke-width="2"/g)).to.have.length(4);
    expect(svg).to.contain("a trigram model").and.to.contain("<title>a title: loss over item of the run</title>");
  });
});
