import { expect } from "chai";
import { trainingRow } from "../../tools/measure/speed/training/trainingRow.ts";
import { svgOf } from "../../tools/measure/chart.ts";
import { readDigits } from "../../testkit/training/digits.ts";
import { trainDigits } from "../../testkit/training/digitsExample.ts";
import { mixAt, scheduleOf, SIDE } from "../../testkit/training/diffusion.ts";
import { denoiserTraining, makeDigits, STEPS } from "../../testkit/training/diffusionExample.ts";
import { lossChart } from "../../tools/measure/models/training/lossChart.ts";
import { picturesSvg } from "../../tools/measure/models/training/pictures.ts";
import { readText } from "../../testkit/training/text.ts";
import { heldOutLoss, textTraining, writeText } from "../../testkit/training/textExample.ts";
import { train } from "../../testkit/training/trainer.ts";
import { trigramLoss } from "../../testkit/training/trigram.ts";

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
    const { model, losses } = await train(textTraining(text, 8));
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

  it("plainOnnxruntime_readsTheRewrittenGraph_andFindsTheSameLosses", async () => {
    const { losses, weights } = await trainingRow("characters", textTraining(readText(), 6));
    expect(weights).to.equal(97_307);
    expect(losses[0]).to.be.closeTo(losses[1], 1e-4);
    expect(losses[1]).to.be.below(Math.log(83));
  });

  it("diffusion_goesFromNoiseToWhatIsGuessed_andOtherSeedsGiveOtherPictures", async () => {
    const [first, ...rows] = scheduleOf(STEPS);
    expect(first!.next).to.deep.equal([0, 0, 1]);
    expect(rows.at(-1)!.next.map((x) => Math.round(1e6 * x) / 1e6)).to.deep.equal([1, 0, 0]);
    // A picture that is always guessed right stays mixed with noise as its time says: the parts' squares sum to 1.
    let [picture, noise] = [0, 1];
    rows.forEach(({ next: [guess, x, fresh] }, k) => {
      [picture, noise] = [guess + x * picture, Math.hypot(x * noise, fresh)];
      const mix = mixAt(0.999 * (1 - (k + 1) / STEPS));
      expect(picture).to.be.closeTo(mix.picture, 0.01);
      expect(noise).to.be.closeTo(mix.noise, 0.01);
    });
    const { model } = await train(denoiserTraining(2));
    const [one, other] = [await makeDigits(model, 2, 1), await makeDigits(model, 2, 2)];
    expect(one).to.have.length(2);
    expect(one[0]).to.not.deep.equal(other[0]);
    expect(one[0]!.every((value) => Math.abs(value) <= 1)).to.equal(true);
    expect(picturesSvg("a title", SIDE, [one])).to.match(/viewBox="0 0 34 18".*\n<title>a title/);
  });

  it("lossChart_hasTheLossesAndALineForEachOther", () => {
    const svg = svgOf(lossChart("a title", [2, 1, 0.5], [0, 1, 2], { "a trigram model": 0.25 }));
    expect(svg.match(/stroke-width="2"/g)).to.have.length(4);
    expect(svg).to.contain("a trigram model").and.to.contain("<title>a title: loss over item of the run</title>");
  });
});
