import { expect } from "chai";
import { svgOf } from "../../tools/measure/chart.ts";
import { readDigits } from "../../tools/measure/training/digits.ts";
import { trainDigits } from "../../tools/measure/training/digitsExample.ts";
import { lossChart } from "../../tools/measure/training/lossChart.ts";
import { readText } from "../../tools/measure/training/text.ts";
import { heldOutLoss, trainText, writeText } from "../../tools/measure/training/textExample.ts";
import { trigramLoss } from "../../tools/measure/training/trigram.ts";

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

  it("trigram_learnsWhatFollowsTwoCharacters_andNeverSaysNever", () => {
    const text = Uint8Array.from({ length: 300 }, (_, k) => k % 3);
    expect(trigramLoss(text, text, 4).loss).to.be.below(0.01);
    expect(trigramLoss(text, Uint8Array.of(0, 1, 3, 3, 3), 4).loss).to.be.within(Math.log(4), 10);
  });

  it("text_isMobyDick_andEachCharacterHasANumber", () => {
    const { alphabet, training, heldOut } = readText();
    expect([alphabet.length, training.length + heldOut.length]).to.deep.equal([83, 1_190_317]);
    const beginning = Array.from(training.subarray(22, 38), (number) => alphabet[number]);
    expect(beginning.join("")).to.equal("Call me Ishmael.");
  });

  it("modelOfCharacters_learnsAndWrites_anotherTextForAnotherSeed", async () => {
    const whole = readText();
    const text = { ...whole, heldOut: whole.heldOut.subarray(0, 600) };
    const { model, losses } = await trainText(text, 8);
    expect(losses.at(-1)).to.be.below(losses[0]!);
    const { loss, places } = await heldOutLoss(model, text, 32);
    expect(places).to.equal(512);
    expect(loss).to.be.below(Math.log(83));
    const write = (seed: number): Promise<string> => writeText(model, text, "Call me Ishmael", { items: 30, seed });
    const [one, again, other] = [await write(1), await write(1), await write(2)];
    expect(one).to.have.length(45);
    expect(again).to.equal(one);
    expect(other).to.not.equal(one);
  });

  it("lossChart_hasTheLossesAndALineForEachOther", () => {
    const svg = svgOf(lossChart("a title", [2, 1, 0.5], [0, 1, 2], { "a trigram model": 0.25 }));
    expect(svg.match(/stroke-width="2"/g)).to.have.length(4);
    expect(svg).to.contain("a trigram model").and.to.contain("<title>a title: loss over item of the run</title>");
  });
});
